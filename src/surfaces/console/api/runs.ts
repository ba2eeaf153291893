import { relative } from "node:path";
import type { Context } from "hono";

import { type Caller, mayAdminister } from "../../../model/caller.ts";
import { isTextList } from "../../../model/json.ts";
import type { RecordedRunFacts, Runtime } from "../../../runtime.ts";
import { writeSavedSkill } from "../../../runtime/saved/write-skill.ts";
import { compareRuns, createTimeline, type RunRecord } from "../../../runs/index.ts";
import { cutText } from "../../../shared/format-text.ts";
import { toFileStem } from "../../../shared/names/file-stem.ts";
import { requireConfig } from "../config-files.ts";
import { type ConsoleRequest, type Endpoints, forAdmin, readNumber, readText } from "../endpoints.ts";
import { answerLines, createRunListeners, describeOutcome } from "../follow-run.ts";
import {
  RECORDED_RUN_STATES,
  type RecordedRunDetail,
  type RecordedRunSummary,
  type RowPage,
  type RunComparison,
  type RunLine,
  type SavedSkillFacts,
} from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import { requireAdmin } from "../security/guard.ts";
import type { ConsoleEnvironment, ConsoleServices } from "../services.ts";

const MAX_ROWS = 500;
const MAX_FILTER_UNITS = 200;

/** UTF-16 units of the answer of a call. */
const MAX_ANSWER_UNITS = 20_000;

/** The list of recorded runs, one run, and what can be done with it. */
export function createRunEndpoints(services: ConsoleServices): Endpoints {
  const { runtime } = services;
  const { runs, secrets } = runtime;
  return {
    "GET /runs": async ({ c, caller }): Promise<RowPage<RecordedRunSummary>> => {
      const filter = { ...readFilter(c), caller };
      const limit = readNumber(c, "limit", { fallback: 100, max: MAX_ROWS });
      const offset = readNumber(c, "offset", { fallback: 0 });
      const [rows, total] = [await runs.list({ ...filter, limit, offset }), await runs.count(filter)];
      return { rows: secrets.maskTexts(rows), total };
    },
    "GET /runs/:id": ({ caller, getPart }) => describeRun(getPart("id"), caller, services),
    "GET /runs/:id/diff/:other": async ({ caller, getPart }): Promise<RunComparison> => {
      const read = async (id: string) => ({
        state: (await runs.get(id, { caller })).state,
        record: await runs.record(id, { caller }),
      });
      const differences = compareRuns(await read(getPart("id")), await read(getPart("other")));
      return { differences: secrets.maskTexts(differences) };
    },
    "POST /runs/:id/replay": async ({ caller, getPart }) => {
      const outcome = await runs.replay(getPart("id"), { caller });
      return { outcome: outcome === undefined ? null : describeOutcome(outcome, services) };
    },
    "POST /runs/:id/resume": async ({ c, caller, getPart, readBody }) => {
      const run = await findRunToChange(getPart("id"), caller, runtime);
      const { acceptsChanges } = await readBody();
      return answerLines<RunLine>(c, async (send, signal) => {
        const options = { caller, signal, acceptsChanges: acceptsChanges === true };
        const outcome = await runs.resume(run.id, { ...options, ...createRunListeners(services, caller, send) });
        send({ kind: "outcome", outcome: describeOutcome(outcome, services) });
      });
    },
    "POST /runs/:id/cancel": async ({ caller, getPart }) => {
      const run = await findRunToChange(getPart("id"), caller, runtime);
      await runs.cancel(run.id, { caller });
    },
    "POST /runs/:id/skill": forAdmin("write", async ({ c, caller, getPart, readBody }) => {
      const { id } = await runs.get(getPart("id"), { caller });
      return c.json(await saveSkill(id, readBody, services), 201);
    }),
  };
}

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
async function findRunToChange(id: string, caller: Caller, { runs }: Runtime): Promise<RecordedRunFacts> {
  const run = await runs.get(id, { caller });
  if (run.caller !== caller.id) requireAdmin(caller, "write");
  return run;
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
    ...run,
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

const MAX_PARAMETERS = 50;

/** Makes a saved skill of a run. */
async function saveSkill(
  id: string,
  readBody: ConsoleRequest["readBody"],
  { runtime, config }: ConsoleServices,
): Promise<SavedSkillFacts> {
  const { options: project, skillsFolder: folder } = requireConfig(config);
  const body = await readBody();
  const stem = toFileStem(readText(body, "name"));
  if (stem === undefined) throw invalidRequest("name must be one or a few words, such as home office");
  const { description, parameters = [] } = body;
  if (!isTextList(parameters) || parameters.length > MAX_PARAMETERS)
    throw invalidRequest(`parameters must be a list of at most ${MAX_PARAMETERS} texts`);
  const saved = await writeSavedSkill(runtime, id, {
    stem,
    method: "run",
    description: typeof description === "string" && description !== "" ? description : undefined,
    parameters,
    folder,
    project,
    mayReplace: false,
    howToReplace: "remove it",
  });
  return {
    path: `${saved.name}.run`,
    parameters: Object.keys(saved.parameters),
    file: relative(project.cwd, saved.files[0]),
  };
}
