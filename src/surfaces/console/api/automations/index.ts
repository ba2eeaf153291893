import { exampleArguments } from "../../../../registry/index.ts";
import type { AutomationFacts, DescribedAutomation, RuntimeView } from "../../../../runtime/api/view.ts";
import type { OccurrenceRow } from "../../../../store/index.ts";
import {
  AUTOMATION_STATES,
  type AutomationCalendar,
  type AutomationDetail,
  type AutomationHistory,
  type AutomationList,
  type AutomationOfferDetail,
  type AutomationState,
  type AutomationSummary,
  type AutomationTiming,
  type OccurrenceInput,
  type OccurrenceSummary,
} from "../../automation-messages.ts";
import { type ConsoleRequest, type Endpoints, readNumber, readText, readTime } from "../../endpoints.ts";
import { invalidRequest } from "../../problem.ts";
import type { ConsoleServices } from "../../services.ts";
import { checkText, readText as readFileText, replaceText } from "./edit.ts";
import { createHiddenError, readOffer, seesContent } from "./offers.ts";
import { saveAutomation } from "./save.ts";

/** The automations of the runtime, their history and coming slots, and what an administrator may do with them. */
export function createAutomationEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /automations": (request) => listAutomations(request, services),
    "POST /automations": async ({ c, ...request }) => c.json(await saveAutomation(request), 201),
    "DELETE /automations/:name": ({ view, getPart }) => view.automations.remove(getPart("name")),
    "GET /automations/:name": ({ view, getPart }) => describeAutomation(getPart("name"), view, services),
    "PUT /automations/:name": replaceText,
    "GET /automations/:name/text": readFileText,
    "POST /automations/:name/check": checkText,
    "GET /automations/:name/offer": readProposal,
    "GET /automations/:name/history": readHistory,
    "GET /automations/:name/input": readInput,
    "GET /calendar": readCalendar,
    "POST /automations/:name/accept": async ({ view, getPart, readBody }) => {
      const body = await readBody();
      const key = body["key"] === undefined ? {} : { key: readText(body, "key") };
      await view.automations.accept(getPart("name"), { digest: readText(body, "digest"), ...key });
    },
    "POST /automations/:name/pause": async ({ view, getPart, readBody }) => {
      const { reason } = await readBody();
      await view.automations.pause(getPart("name"), readReason(reason));
    },
    "POST /automations/:name/resume": async ({ view, getPart }) => {
      await view.automations.resume(getPart("name"));
    },
    "POST /automations/:name/run": async ({ c, view, getPart, readBody }) => {
      const { input } = await readBody();
      return c.json(summarizeOccurrence(await view.automations.run(getPart("name"), input)), 201);
    },
    "POST /automations/:name/retry": async ({ view, getPart, readBody }) =>
      summarizeOccurrence(await view.automations.retry(getPart("name"), readText(await readBody(), "occurrence"))),
  };
}

const MAX_ROWS = 500;
const MAX_FILTER_UNITS = 200;
const MAX_REASON_UNITS = 500;

async function listAutomations(
  { c, view }: ConsoleRequest,
  { http }: Pick<ConsoleServices, "http">,
): Promise<AutomationList> {
  const text = c.req.query("text") ?? "";
  if (text.length > MAX_FILTER_UNITS) throw invalidRequest(`text must have at most ${MAX_FILTER_UNITS} characters`);
  const state = readState(c.req.query("state"));
  const found = await view.automations.find({
    text,
    ...(state !== undefined && { state }),
    limit: readNumber(c, "limit", { fallback: 100, max: MAX_ROWS }),
    offset: readNumber(c, "offset", { fallback: 0 }),
  });
  // Errors may have results of methods: only the detail shows them, to callers that may see these.
  const rows = found.rows.map((facts) => hideError(summarize(facts, http.publicUrl())));
  return view.secrets.maskTexts<AutomationList>({ ...found, rows });
}

function readState(text: string | undefined): AutomationState | undefined {
  if (text === undefined || text === "") return undefined;
  const state = AUTOMATION_STATES.find((each) => each === text);
  if (state === undefined) throw invalidRequest(`state must be one of ${AUTOMATION_STATES.join(", ")}`);
  return state;
}

function readReason(reason: unknown): string | undefined {
  if (reason === undefined || reason === "") return undefined;
  if (typeof reason === "string" && reason.length <= MAX_REASON_UNITS) return reason;
  throw invalidRequest(`reason must be a text of at most ${MAX_REASON_UNITS} characters`);
}

function summarize(facts: AutomationFacts, publicUrl: string): AutomationSummary {
  const { name, state, reason, description, key, schedule, next, webhook, waiting, failures, by, last } = facts;
  return {
    name,
    state,
    reason: reason ?? null,
    description: description ?? null,
    key: key ?? null,
    schedule: schedule ?? null,
    next: next ?? null,
    webhook: webhook === undefined ? null : `${publicUrl}/hooks/${webhook}`,
    waiting: waiting ?? null,
    failures,
    by: by ?? null,
    last: last === undefined ? null : summarizeOccurrence(last),
  };
}

function summarizeOccurrence(row: OccurrenceRow): OccurrenceSummary {
  const { id, kind, state, due, attempt, started, ended, error, run } = row;
  return { id, kind, state, due, attempt, started, ended, error, run: started === null ? null : run };
}

function hideError(summary: AutomationSummary): AutomationSummary {
  return { ...summary, last: summary.last && { ...summary.last, error: null } };
}

async function describeAutomation(
  name: string,
  view: RuntimeView,
  { http }: ConsoleServices,
): Promise<AutomationDetail> {
  const detail = await view.automations.get(name);
  const { file } = detail;
  const { offer, problem, isHidden } = await readOffer(name, view);
  const summary = summarize(detail, http.publicUrl());
  return view.secrets.maskTexts<AutomationDetail>({
    ...(isHidden ? hideError(summary) : summary),
    isHidden,
    timing: describeTiming(detail),
    hook: describeHook(detail),
    limits: file === undefined ? null : { ...file.limits },
    input: file?.input ?? null,
    example: file?.input === undefined ? {} : exampleArguments({ input: file.input }),
    offer: isHidden ? null : (offer ?? null),
    problem,
  });
}

function describeHook({ file, scheme = "", refused }: DescribedAutomation): AutomationDetail["hook"] {
  if (file?.webhook === undefined) return null;
  return { scheme, secrets: file.webhook.secrets, refused: refused ?? null };
}

function describeTiming({ file, zone = "UTC", nextSlots }: DescribedAutomation): AutomationTiming | null {
  const schedule = file?.schedule;
  if (schedule === undefined) return null;
  const { overlap, catchUp, windowMs, jitterMs } = schedule;
  return { zone, next: nextSlots, overlap, catchUp, windowMs, jitterMs };
}

/** Reads a proposal as it is accepted with another key than the model has written. */
async function readProposal({ c, view, getPart }: ConsoleRequest): Promise<AutomationOfferDetail> {
  const name = getPart("name");
  const key = c.req.query("key");
  const { offer, problem, isHidden } = await readOffer(name, view, key === undefined ? {} : { key });
  if (isHidden) throw createHiddenError(name);
  if (offer === undefined) throw invalidRequest(problem ?? "it cannot be accepted");
  return view.secrets.maskTexts<AutomationOfferDetail>(offer);
}

async function readHistory({ c, view, getPart }: ConsoleRequest): Promise<AutomationHistory> {
  const name = getPart("name");
  const limit = readNumber(c, "limit", { fallback: 50, max: MAX_ROWS });
  const offset = readNumber(c, "offset", { fallback: 0 });
  const found = await view.automations.history(name, { limit: limit + 1, offset });
  const sees = await seesContent(name, view);
  const rows = found
    .slice(0, limit)
    .map(summarizeOccurrence)
    .map((row) => (sees ? row : { ...row, error: null }));
  return { rows: view.secrets.maskTexts(rows), hasMore: found.length > limit };
}

async function readInput({ c, view, getPart }: ConsoleRequest): Promise<OccurrenceInput> {
  const name = getPart("name");
  const input = await view.automations.input(name, c.req.query("occurrence") ?? "");
  if (!(await seesContent(name, view))) throw createHiddenError(name);
  return { json: input === undefined ? null : view.secrets.maskText(input) };
}

const MAX_SLOTS = 500;

/** Seven days and the rest of the day before them. */
const MAX_SPAN_MS = 8 * 86_400_000;

async function readCalendar({ c, view }: ConsoleRequest): Promise<AutomationCalendar> {
  const from = Date.now();
  const until = Math.min(readTime(c, "until") ?? from + MAX_SPAN_MS, from + MAX_SPAN_MS);
  return { ...(await view.automations.upcoming({ from, until, limit: MAX_SLOTS })), from, until };
}
