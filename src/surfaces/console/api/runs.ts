import type { Context } from "hono";

import { type Caller, mayAdminister } from "../../../model/caller.ts";
import type { RecordedRunFacts, Runtime } from "../../../runtime.ts";
import { compareRuns, createTimeline, type RunRecord } from "../../../runs/index.ts";
import { cutText } from "../../../shared/format-text.ts";
import { answerLines } from "../answer-lines.ts";
import { createRunListeners, describeOutcome } from "../follow-run.ts";
import { invalidRequest } from "../problem.ts";
import { readNumber, readObject } from "../read-body.ts";
import {
  RECORDED_RUN_STATES,
  type RecordedRunDetail,
  type RecordedRunSummary,
  type RowPage,
  type RunComparison,
  type RunLine,
} from "../run-messages.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi, ConsoleEnvironment, ConsoleServices } from "../services.ts";

const MAX_ROWS = 500;
const MAX_FILTER_UNITS = 200;

/** UTF-16 units of the answer of a call. */
const MAX_ANSWER_UNITS = 20_000;

/** Adds the list of recorded runs, one run, and what can be done with it. */
export const addRunsApi: AddConsoleApi = (api, services) => {
  const { runtime, http } = services;
  const { runs, secrets } = runtime;
  api.get("/runs", async (c) => {
    const filter = { ...readFilter(c), caller: c.get("caller") };
    const limit = readNumber(c, "limit", { fallback: 100, max: MAX_ROWS });
    const offset = readNumber(c, "offset", { fallback: 0, max: 999_999_999 });
    const [rows, total] = [await runs.list({ ...filter, limit, offset }), await runs.count(filter)];
    return c.json({ rows: secrets.maskTexts(rows.map(summarizeRecord)), total } satisfies RowPage<RecordedRunSummary>);
  });
  api.get("/runs/:id", async (c) => c.json(await describeRun(c.req.param("id"), c.get("caller"), services)));
  api.get("/runs/:id/diff/:other", async (c) => {
    const caller = c.get("caller");
    return c.json(await compare(c.req.param("id"), c.req.param("other"), { runtime, caller }));
  });
  api.post("/runs/:id/replay", async (c) => {
    const outcome = await runs.replay(c.req.param("id"), { caller: c.get("caller") });
    return c.json({ outcome: outcome === undefined ? null : describeOutcome(outcome, services) });
  });
  api.post("/runs/:id/resume", async (c) => {
    const run = await findRunToChange(c, runtime);
    const { acceptsChanges } = await readObject(c, http);
    return answerLines<RunLine>(c, async (send, signal) => {
      const caller = c.get("caller");
      const options = { caller, signal, acceptsChanges: acceptsChanges === true };
      const outcome = await runs.resume(run.id, { ...options, ...createRunListeners(services, caller, send) });
      send({ kind: "outcome", outcome: describeOutcome(outcome, services) });
    });
  });
  api.post("/runs/:id/cancel", async (c) => {
    const run = await findRunToChange(c, runtime);
    await runs.cancel(run.id, { caller: c.get("caller") });
    return c.body(null, 204);
  });
};

function readFilter(c: Context<ConsoleEnvironment>): Parameters<Runtime["runs"]["count"]>[0] {
  const word = c.req.query("state");
  const state = RECORDED_RUN_STATES.find((each) => each === word);
  if (word !== undefined && state === undefined)
    throw invalidRequest(`state must be one of ${RECORDED_RUN_STATES.join(", ")}`);
  const [runCaller, title] = [readQuery(c, "caller"), readQuery(c, "text")];
  return {
    ...(state !== undefined && { state }),
    ...(runCaller !== undefined && { runCaller }),
    ...(title !== undefined && { title }),
  };
}

function readQuery(c: Context<ConsoleEnvironment>, name: string): string | undefined {
  const text = c.req.query(name);
  if (text !== undefined && text.length > MAX_FILTER_UNITS)
    throw invalidRequest(`${name} must have at most ${MAX_FILTER_UNITS} characters`);
  return text === "" ? undefined : text;
}

/** Finds a run of the caller, or for an administrator any run. */
async function findRunToChange(
  c: Context<ConsoleEnvironment, "/runs/:id/:action">,
  { runs }: Pick<Runtime, "runs">,
): Promise<RecordedRunFacts> {
  const caller = c.get("caller");
  const run = await runs.get(c.req.param("id"), { caller });
  if (run.caller !== caller.id) requireAdmin(caller, "write");
  return run;
}

function summarizeRecord(run: RecordedRunFacts): RecordedRunSummary {
  const { id, caller, state, title, created, updated, ended, continues, calls, effects, isOpen } = run;
  return { id, caller, state, title, created, updated, ended, continues, calls, effects, isOpen };
}

async function describeRun(id: string, caller: Caller, services: ConsoleServices): Promise<RecordedRunDetail> {
  const { runtime } = services;
  const run = await runtime.runs.get(id, { caller });
  const record = await runtime.runs.record(id, { caller });
  const { approvals } = await runtime.database();
  const outcome = await runtime.runs.outcome(id, { caller });
  const timeline = createTimeline(record, await approvals.listOfRun(id)).map((call) => ({
    ...call,
    answer: formatAnswer(record, call.id),
    notes: record.calls.get(call.id)?.notes ?? [],
  }));
  const detail: RecordedRunDetail = {
    ...summarizeRecord(run),
    version: record.header.version,
    source: record.header.source,
    notes: record.header.notes,
    timeline,
    outcome: outcome === undefined ? null : describeOutcome(outcome, services),
    canContinue: outcome?.kind === "failed" && outcome.continue !== undefined,
    mayChange: caller.id === run.caller || mayAdminister(caller, "write"),
    maySave: outcome?.kind === "completed" && services.config !== undefined && mayAdminister(caller, "write"),
  };
  return runtime.secrets.maskTexts(detail);
}

function formatAnswer({ calls }: RunRecord, id: number): string | null {
  const answer = calls.get(id)?.answer;
  if (answer === undefined) return null;
  const text = answer.ok ? answer.json : JSON.stringify(answer.error);
  return text.length <= MAX_ANSWER_UNITS ? text : `${cutText(text, MAX_ANSWER_UNITS)}…`;
}

async function compare(
  id: string,
  otherId: string,
  { runtime, caller }: { readonly runtime: Runtime; readonly caller: Caller },
): Promise<RunComparison> {
  const { runs, secrets } = runtime;
  const [first, second] = [await runs.get(id, { caller }), await runs.get(otherId, { caller })];
  const [one, two] = [await runs.record(id, { caller }), await runs.record(otherId, { caller })];
  const differences = compareRuns({ state: first.state, record: one }, { state: second.state, record: two });
  const comparison = { first: summarizeRecord(first), second: summarizeRecord(second), differences };
  return secrets.maskTexts(comparison);
}
