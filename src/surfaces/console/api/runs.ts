import { relative } from "node:path";

import { isTextList } from "../../../model/json.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { RunRecord } from "../../../runs/index.ts";
import { cutText } from "../../../shared/format-text.ts";
import { toFileStem } from "../../../shared/names/file-stem.ts";
import { requireConfig } from "../config-files.ts";
import { type ConsoleRequest, type Endpoints, readNumber, readText } from "../endpoints.ts";
import { answerLines, createRunListeners, describeOutcome } from "../follow-run.ts";
import {
  type RecordedRunDetail,
  type RecordedRunSummary,
  type RefusalReport,
  type RowPage,
  type RunComparison,
  type RunLine,
  type RunNeighbours,
  type SavedSkillFacts,
} from "../program-messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";
import { readRunFilter } from "./run-filter.ts";

const MAX_ROWS = 500;

/** UTF-16 units of the arguments and of the answer of a call, as long as those of all calls have less than the second number. */
const MAX_TEXT_UNITS = 20_000;
const MAX_PAGE_UNITS = 512 << 10;

/** UTF-16 units of each text after that. */
const MAX_LATER_UNITS = 200;

/** The list of recorded runs, one run, and what can be done with it. */
export function createRunEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /runs": async ({ c, view }): Promise<RowPage<RecordedRunSummary>> => {
      const filter = readRunFilter(c);
      const limit = readNumber(c, "limit", { fallback: 100, max: MAX_ROWS });
      const offset = readNumber(c, "offset", { fallback: 0 });
      const [rows, total] = [await view.runs.list({ ...filter, limit, offset }), await view.runs.count(filter)];
      return { rows: view.secrets.maskTexts(rows), total };
    },
    "GET /refusals": async ({ view }): Promise<RefusalReport> => view.secrets.maskTexts(await view.runs.refusals()),
    "GET /runs/:id/neighbours": ({ c, view, getPart }): Promise<RunNeighbours> =>
      view.runs.neighbours(getPart("id"), readRunFilter(c)),
    "GET /runs/:id": ({ view, getPart }) => describeRun(getPart("id"), view, services),
    "GET /runs/:id/diff/:other": async ({ view, getPart }): Promise<RunComparison> => {
      const differences = await view.runs.compare(getPart("id"), getPart("other"));
      return { differences: view.secrets.maskTexts(differences) };
    },
    "POST /runs/:id/replay": async ({ view, getPart }) => {
      const outcome = await view.runs.replay(getPart("id"));
      return { outcome: outcome === undefined ? null : describeOutcome(outcome, view) };
    },
    "POST /runs/:id/resume": async ({ c, view, getPart, readBody }) => {
      const id = getPart("id");
      await view.runs.requireMayChange(id);
      const { acceptsChanges } = await readBody();
      return answerLines<RunLine>(c, async (send, signal) => {
        const options = { signal, acceptsChanges: acceptsChanges === true };
        const outcome = await view.runs.resume(id, { ...options, ...createRunListeners(services, view, send) });
        send({ kind: "outcome", outcome: describeOutcome(outcome, view) });
      });
    },
    "POST /runs/:id/cancel": ({ view, getPart }) => view.runs.cancel(getPart("id")),
    "POST /runs/:id/skill": async ({ c, view, getPart, readBody }) =>
      c.json(await saveSkill(getPart("id"), { view, readBody }, services), 201),
  };
}

async function describeRun(
  id: string,
  view: RuntimeView,
  { config, log }: ConsoleServices,
): Promise<RecordedRunDetail> {
  const { run, content } = await view.runs.show(id, { withUnrecorded: true });
  const mayChange = view.caller.id === run.caller || view.may("ManageRuns");
  if (content === undefined) return { ...run, ...NOT_SHOWN, mayChange };
  const { record, timeline, outcome } = content;
  const cut = createTextCut();
  const calls = timeline.map((call) => ({
    ...call,
    arguments: cut(call.arguments),
    answer: formatAnswer(record, call.id, cut),
    notes: record.calls.get(call.id)?.notes ?? [],
  }));
  const { version, source, notes } = record.header;
  const shownOutcome = outcome === undefined ? null : describeOutcome(outcome, view);
  const canContinue = outcome?.kind === "failed" && outcome.continue !== undefined;
  const maySave = outcome?.kind === "completed" && config !== undefined && view.may("ManageServers");
  return view.secrets.maskTexts<RecordedRunDetail>({
    ...run,
    isHidden: false,
    version,
    source,
    notes,
    log: log.list(view, id),
    timeline: calls,
    outcome: shownOutcome,
    canContinue,
    mayChange,
    maySave,
  });
}

const NOT_SHOWN = {
  isHidden: true,
  version: "",
  source: "",
  notes: [],
  log: [],
  timeline: [],
  outcome: null,
  canContinue: false,
  maySave: false,
} as const;

function formatAnswer({ calls }: RunRecord, id: number, cut: (text: string) => string): string | null {
  const answer = calls.get(id)?.answer;
  return answer === undefined ? null : cut(answer.ok ? answer.json : JSON.stringify(answer.error));
}

/** Returns the function that cuts the texts of a page: with hundreds of long ones, no browser shows it. */
function createTextCut(): (text: string) => string {
  let left = MAX_PAGE_UNITS;
  return (text) => {
    const max = left > 0 ? MAX_TEXT_UNITS : MAX_LATER_UNITS;
    left -= Math.min(text.length, max);
    return text.length <= max ? text : `${cutText(text, max)}…`;
  };
}

const MAX_PARAMETERS = 50;

/** Makes a saved skill of a run. */
async function saveSkill(
  id: string,
  { view, readBody }: Pick<ConsoleRequest, "view" | "readBody">,
  { config }: ConsoleServices,
): Promise<SavedSkillFacts> {
  const { saveSkill: save } = view.admin("ManageServers");
  const { options: project, skillsFolder: folder } = requireConfig(config);
  const body = await readBody();
  const stem = toFileStem(readText(body, "name"));
  if (stem === undefined) throw invalidRequest("name must be one or a few words, such as home office");
  const { description, parameters = [] } = body;
  if (!isTextList(parameters) || parameters.length > MAX_PARAMETERS)
    throw invalidRequest(`parameters must be a list of at most ${MAX_PARAMETERS} texts`);
  const saved = await save(id, {
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
