import { formatPlan } from "../../../approvals/index.ts";
import { getMessage } from "../../../errors.ts";
import type { Catalog } from "../../../model/catalog.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { CallSite } from "../../../model/plan.ts";
import { parseValueExactly } from "../../../shared/json/exact-json.ts";
import { formatPartsPath } from "../../../shared/names/method-paths.ts";
import { inferSchema } from "../../../observed/index.ts";
import { completeCode, firstSentence, formatSchemaType } from "../../../registry/index.ts";
import { type Endpoints, type JsonObject, readSource, readText } from "../endpoints.ts";
import { answerLines, createRunListeners, describeOutcome } from "../follow-run.ts";
import type { Completions, PlannedSite, ProgramCheck, RunLine } from "../program-messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

const MAX_CANDIDATES = 500;

/** Completion, the check and the run of a program. */
export function createPlaygroundEndpoints(services: ConsoleServices): Endpoints {
  return {
    "POST /complete": async ({ view, readBody }) =>
      complete(readSource(await readBody(), "code", view.shared.limits.sourceBytes), view.catalog),
    "POST /check": async ({ view, readBody }): Promise<ProgramCheck> => {
      const { plan, ...check } = await view.check(readText(await readBody(), "source"));
      return { ...check, plan: plan.map(describeSite) };
    },
    "POST /run": async ({ c, view, readBody }) => {
      const body = await readBody();
      const source = readText(body, "source");
      const token = body["continue"] === undefined ? {} : { continue: readText(body, "continue") };
      const input = body["input"] === undefined ? {} : { input: parseInput(readText(body, "input")) };
      const [again, reuse] = [readNumbers(body, "again"), readNumbers(body, "reuse")];
      return answerLines<RunLine>(c, async (send, signal) => {
        const listeners = createRunListeners(services, view, send);
        const outcome = await view.run(source, { ...token, ...input, again, reuse, signal, ...listeners });
        const described = describeOutcome(outcome, view);
        send({ kind: "outcome", outcome: described, type: formatType(described) });
      });
    },
  };
}

/** Returns the type of a result as TypeScript; an empty text without a result. */
function formatType(outcome: Outcome): string {
  if (outcome.kind !== "completed" || outcome.value === undefined) return "";
  return formatSchemaType(inferSchema(outcome.value));
}

function parseInput(json: string): unknown {
  try {
    return parseValueExactly(json);
  } catch (thrown) {
    throw invalidRequest(`input must be JSON, such as {"city": "Rome"}: ${getMessage(thrown)}`);
  }
}

function readNumbers(body: JsonObject, name: string): readonly number[] {
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

function describeSite({ literalArguments: args, ...site }: CallSite): PlannedSite {
  const path = formatPartsPath(site.path, site.parts ?? []);
  const [planned] = formatPlan([{ ...site, path, args }]);
  return { ...site, text: planned?.text ?? site.path };
}
