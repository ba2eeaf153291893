import type { Context } from "hono";

import { formatPlan } from "../../../approvals/index.ts";
import type { Catalog } from "../../../model/catalog.ts";
import type { CallSite } from "../../../model/plan.ts";
import { completeCode, firstSentence } from "../../../registry/index.ts";
import { answerLines } from "../answer-lines.ts";
import { createRunListeners, describeOutcome } from "../follow-run.ts";
import { invalidRequest } from "../problem.ts";
import { readObject, readText } from "../read-body.ts";
import type { Completions, PlannedSite, RunLine, ProgramCheck } from "../run-messages.ts";
import type { AddConsoleApi, ConsoleEnvironment, ConsoleServices } from "../services.ts";

const MAX_CANDIDATES = 500;

/** Adds completion, the check and the run of a program. */
export const addPlaygroundApi: AddConsoleApi = (api, services) => {
  const { runtime, http } = services;
  api.post("/complete", async (c) => {
    const body = await readObject(c, http);
    return c.json(complete(readText(body, "code"), runtime.catalogFor(c.get("caller"))));
  });
  api.post("/check", async (c) => {
    const body = await readObject(c, http);
    const { violations, plan, notes } = runtime.check(readText(body, "source"), { caller: c.get("caller") });
    const check: ProgramCheck = { violations, plan: plan.map(describeSite), notes };
    return c.json(check);
  });
  api.post("/run", async (c) => runProgram(c, services));
};

async function runProgram(c: Context<ConsoleEnvironment>, services: ConsoleServices): Promise<Response> {
  const { runtime, http } = services;
  const caller = c.get("caller");
  const body = await readObject(c, http);
  const source = readText(body, "source");
  const token = body["continue"] === undefined ? {} : { continue: readText(body, "continue") };
  const [again, reuse] = [readNumbers(body, "again"), readNumbers(body, "reuse")];
  return answerLines<RunLine>(c, async (send, signal) => {
    const listeners = createRunListeners(services, caller, send);
    const outcome = await runtime.run(source, { ...token, again, reuse, caller, signal, ...listeners });
    send({ kind: "outcome", outcome: describeOutcome(outcome, services) });
  });
}

function readNumbers(body: Readonly<Record<string, unknown>>, name: string): readonly number[] {
  const list = body[name] ?? [];
  if (Array.isArray(list) && list.every((each) => Number.isSafeInteger(each))) return list as readonly number[];
  throw invalidRequest(`${name} must be a list of numbers of calls`);
}

function complete(code: string, catalog: Catalog): Completions {
  const [candidates, end] = completeCode(code, catalog);
  const skill = /(?<![\w$.])device\s*\.\s*(?:(\w+)\s*\.\s*)?\w*$/.exec(code);
  const getDetail = (label: string): string => {
    if (skill === null) return "";
    const name = label.replace(/[.(].*$/, "");
    const description =
      skill[1] === undefined ? catalog.skill(name)?.description : catalog.method(`${skill[1]}.${name}`)?.description;
    return description === undefined ? "" : firstSentence(description);
  };
  return {
    candidates: candidates.slice(0, MAX_CANDIDATES).map((label) => ({ label, detail: getDetail(label) })),
    length: end.length,
  };
}

function describeSite(site: CallSite): PlannedSite {
  const { path, line, column, endLine, endColumn, inLoop, conditional, parallel, dynamic } = site;
  const [planned] = formatPlan([{ path, line, args: site.literalArguments, inLoop, conditional }]);
  const text = planned?.text ?? path;
  return { path, line, column, endLine, endColumn, text, inLoop, conditional, parallel, dynamic };
}
