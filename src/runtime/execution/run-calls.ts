import {
  type AnswerCall,
  parseTagged,
  type SandboxAnswer,
  type SandboxCall,
  waitForTurn,
} from "../../../sandbox/index.ts";
import { formatDeprecation } from "../../shared/deprecation.ts";
import { getMessage, hidePlace, sentence, SkillgateError } from "../../errors.ts";
import { type Catalog, getOriginal, isForeign, type Method } from "../../model/catalog.ts";
import type { Limits } from "../../model/limits.ts";
import { createCall, createUnknownMethodError } from "../call-method.ts";
import { createRunApprovals, type RecordedRun } from "../../model/approval.ts";
import type { CallRecord } from "../../model/outcome.ts";
import type { Plan } from "../../model/plan.ts";
import type { CallTask } from "../../model/skill.ts";
import { decodeArguments, decodeFromGuest, encodeForGuest } from "../../shared/values/value-encoding.ts";
import { type AuditEntry, type Call, recordResults } from "../../router/index.ts";
import { INPUT_PATH, type StoredCall } from "../../runs/index.ts";
import { hashValue } from "../../shared/digest.ts";
import { callBuiltin, getInput, getResult, isBuiltin } from "../builtin-calls.ts";
import type { RunAccounts } from "./rights/run-accounts.ts";
import type { RunServices, RunRequest } from "./run-services.ts";
import { findSkillError } from "../../shared/errors/skill-error.ts";
import { splitPath } from "../../shared/names/method-paths.ts";
import { readsMember } from "../outcome/read-members.ts";

/** The calls of one run: answers each of them, and knows afterwards how each ended. */
export interface CallLog {
  readonly answer: AnswerCall;
  /** Adds a call that an earlier execution of the program made. */
  addRecorded(call: StoredCall): void;
  getRecord(id: number): CallRecord | undefined;
  /** Returns the remarks of one call. */
  getNotes(id: number): readonly string[];
  /** Ends the log when the run has ended; calls without an answer are recorded as unfinished. */
  close(): {
    readonly calls: readonly CallRecord[];
    readonly callNotes: readonly string[];
    readonly causes: readonly CallCause[];
  };
}

/** The error behind a call that failed, and the message that the program got. */
export interface CallCause {
  readonly message: string;
  readonly error: Error;
}

/** The program of a run; it decides which members of a result count as read. */
interface RunProgram {
  readonly runId: string;
  readonly source: string;
  readonly plan: Plan;
  /** The paths of the methods that it can call. */
  readonly paths: readonly string[];
  readonly accounts: RunAccounts;
  /** The record of the run, if it has one. */
  readonly record?: RecordedRunCalls;
}

/** The part of a record that calls need. */
export interface RecordedRunCalls {
  readonly recorded: RecordedRun;
  /** Records that the provider of a call is invoked next. `isElsewhere`: another process reads it in the store. */
  begin(id: number, argumentsDigest: string, isElsewhere: boolean): Promise<void>;
  /** Returns the task of a server that a call waits for. */
  getTask(id: number): CallTask;
  /** True if the provider of a call was not invoked yet. */
  isBeforeBegin(id: number): boolean;
  /** Is called when a call begins to wait for a person, and calls the result when it does not any more. */
  onWait(id: number): () => void;
  /** Ends or leaves the run if its caller has no rights any more. Must be awaited when a call has waited for a person. */
  requireRights(): Promise<void>;
  /** Throws for a method that the run must not call. */
  requireUnchanged(method: Method): void;
}

export function createCallHandler(
  { runId, source, plan, paths, record, accounts }: RunProgram,
  request: RunRequest,
  services: RunServices,
): CallLog {
  const inRun = createRunParts({ plan, record, accounts }, request);
  const reads = (name: string): boolean => readsMember(source, name);
  const methods = paths.flatMap((path) => findOriginal(path, request.catalog) ?? []);
  const resultTexts = recordResults(source, methods, services.getPolicy(), request.input);
  const records = new Map<number, () => CallRecord>();
  const notes = createCallNotes();
  const causes: CallCause[] = [];
  let closed = false;
  return {
    answer: async (call) => {
      const method = request.catalog.method(call.path);
      if (method === undefined && isBuiltin(call.path)) return answerBuiltin(call, request, services);
      const startedAt = performance.now();
      request.observer?.onCallStart?.(call.path, call.id);
      records.set(call.id, () => createRecord(call, "unfinished", performance.now() - startedAt));
      const ended = (entry: AuditEntry): void => {
        if (!closed) records.set(call.id, () => recordFromAudit(call, entry));
        request.observer?.onCallEnd?.(recordFromAudit(call, entry));
      };
      try {
        const programCall = createProgramCall(call, runId, request, record);
        record?.requireUnchanged(programCall.method);
        reportDeprecation(programCall, notes);
        const value = await services.route({
          ...programCall,
          ...inRun,
          reads,
          ...(resultTexts && { resultTexts }),
          addNote: (text) => notes.add(call.id, text),
          onEnded: ended,
        });
        const pause = waitForTurn();
        if (pause !== undefined) await pause;
        return encodeAnswer(value, request.limits);
      } catch (thrown) {
        const error = hidePlace(thrown);
        if (method === undefined) {
          const refused = createRecord(call, "refused", performance.now() - startedAt);
          records.set(call.id, () => refused);
          request.observer?.onCallEnd?.(refused);
        }
        causes.push(...findCause(error));
        return createErrorAnswer(error, method, { ...request.limits, addNote: (text) => notes.add(call.id, text) });
      }
    },
    addRecorded(call) {
      const method = request.catalog.method(call.path);
      if (method === undefined && isBuiltin(call.path)) return;
      records.set(call.id, () => toCallRecord(call));
      for (const note of call.notes) notes.add(call.id, note);
      if (resultTexts === undefined || method === undefined || call.answer?.ok !== true) return;
      const { json, tagged = false } = call.answer;
      resultTexts.record(getOriginal(method), decodeFromGuest(json, tagged ? parseTagged : JSON.parse));
    },
    getRecord: (id) => records.get(id)?.(),
    getNotes: (id) => notes.list(id),
    close() {
      closed = true;
      // The calls of a continued run are not answered in their order.
      const calls = [...records].toSorted(([a], [b]) => a - b).map(([, record]) => record());
      return { calls, callNotes: notes.listAll(), causes };
    },
  };
}

function findOriginal(path: string, catalog: Catalog): Method | undefined {
  const method = catalog.method(path);
  return method && getOriginal(method);
}

/** Creates what all calls of a run share. */
function createRunParts(
  { plan, record, accounts }: Pick<RunProgram, "plan" | "accounts"> & { readonly record: RecordedRunCalls | undefined },
  { catalog, requestUnit }: RunRequest,
): Pick<Call, "approvedInRun" | "onAccounts" | "getPlannedCalls" | "recorded" | "requestUnit"> {
  return {
    ...(requestUnit && { requestUnit }),
    approvedInRun: createRunApprovals(),
    onAccounts: accounts.use,
    getPlannedCalls: () => plan.map((site) => ({ site, method: findOriginal(site.path, catalog) })),
    ...(record !== undefined && { recorded: record.recorded }),
  };
}

/** Finds the error of a skill, else the one of a server or of the store. */
function findCause(thrown: unknown): readonly CallCause[] {
  const error = findSkillError(thrown) ?? (thrown instanceof SkillgateError ? thrown.cause : undefined);
  return error instanceof Error ? [{ message: getMessage(thrown), error }] : [];
}

/** The remarks of the calls of a run; each text counts once in the list of all. */
interface CallNotes {
  add(id: number, text: string): void;
  has(text: string): boolean;
  list(id: number): readonly string[];
  listAll(): readonly string[];
}

function createCallNotes(): CallNotes {
  const all = new Set<string>();
  const byCall = new Map<number, string[]>();
  const list = (id: number): readonly string[] => byCall.get(id) ?? [];
  return {
    add(id, text) {
      all.add(text);
      byCall.set(id, [...list(id), text]);
    },
    has: (text) => all.has(text),
    list,
    listAll: () => [...all],
  };
}

/** Adds a remark on a deprecated method; logs it once in a run. */
function reportDeprecation({ id, method, log }: Pick<Call, "id" | "method" | "log">, notes: CallNotes): void {
  const text = formatDeprecation(method);
  if (text === undefined) return;
  if (!notes.has(text)) log("warn", text);
  notes.add(id, text);
}

/** A result that is far too large is not even written as JSON. */
function encodeAnswer(value: unknown, { answerBytes }: Limits): SandboxAnswer {
  const encoded = encodeForGuest(value, answerBytes);
  if (encoded !== undefined) return { ok: true, json: encoded.json, tagged: encoded.tagged };
  throw new SkillgateError("ANSWER_LIMIT", sentence("ANSWER_LIMIT", `it has more than ${answerBytes} bytes`));
}

function createRecord(
  { id, path, arguments: json }: SandboxCall,
  outcome: CallRecord["outcome"],
  durationMs: number,
): CallRecord {
  const { skill, method } = splitPath(path);
  return { id, skill, method, outcome, durationMs, argumentsDigest: hashValue(json) };
}

function recordFromAudit(call: SandboxCall, entry: AuditEntry): CallRecord {
  const { outcome, durationMs, attempts, argumentsDigest } = entry;
  const { skill, method } = splitPath(call.path);
  return { id: call.id, skill, method, outcome, durationMs, ...(attempts && { attempts }), argumentsDigest };
}

/** Restores the record of a call. */
export function toCallRecord({ id, path, digest, args, durationMs, outcome }: StoredCall): CallRecord {
  const { skill, method } = splitPath(path);
  const argumentsDigest = digest ?? hashValue(args);
  return { id, skill, method, outcome: outcome ?? "unfinished", durationMs, argumentsDigest };
}

/** Creates the router's request. Everything that the guest sent is parsed here, once. */
function createProgramCall(
  call: SandboxCall,
  runId: string,
  request: RunRequest,
  record: RecordedRunCalls | undefined,
): Omit<Call, "addNote" | "onEnded"> {
  const created = createCall(call.path, request, {
    id: call.id,
    runId,
    cancellable: call,
    readArguments: (skill) => readArguments(call, isForeign(skill) && skill.kind !== "api" ? AS_JSON : AS_VALUES),
  });
  if (created === undefined) throw createUnknownMethodError(call.path, request);
  const onRawResult = request.observer?.getResultReceiver?.(created.method);
  return {
    ...created,
    ...(onRawResult !== undefined && { onRawResult }),
    readTimeLeft: () => call.readBudget().wallMs,
    pauseTimeoutFor: (answer) => pauseClockDuring(call, request.pauseTimeoutFor?.(answer) ?? answer, record),
    ...(record !== undefined && {
      onBegin: (digest: string, isElsewhere: boolean) => record.begin(call.id, digest, isElsewhere),
      task: record.getTask(call.id),
    }),
  };
}

/** MCP has only JSON: there, bytes travel as base64, dates as ISO 8601. */
const AS_JSON = { bytesAs: "base64", datesAs: "text" } as const;
const AS_VALUES = { bytesAs: "bytes", datesAs: "dates" } as const;

function readArguments(
  call: SandboxCall,
  { bytesAs, datesAs }: typeof AS_JSON | typeof AS_VALUES = AS_VALUES,
): readonly unknown[] {
  const args = decodeArguments(() => call.readArguments(datesAs), bytesAs);
  if (args !== undefined) return args;
  throw new SkillgateError("ARGUMENTS_INVALID", sentence("ARGUMENTS_INVALID", "they are not a list of JSON values"));
}

/** Returns the parts of any error that a program sees: name, message, code, skill, method, server; no others. */
function toErrorFacts(error: unknown, method: Method | undefined): Readonly<Record<string, unknown>> {
  const skillgateError = error instanceof SkillgateError ? error : undefined;
  const { server, tool } = skillgateError?.facts ?? {};
  // Any other error is the host's own; a guest must not read its message.
  const message = skillgateError?.message ?? sentence("CALL_FAILED", "the runtime could not make the call");
  return {
    name: "CallError",
    message,
    code: skillgateError?.code ?? "CALL_FAILED",
    ...(method !== undefined && { skill: method.skill, method: method.name }),
    ...(typeof server === "string" && { server }),
    ...(typeof tool === "string" && { tool, error: message }),
  };
}

interface ErrorAnswerOptions extends Pick<Limits, "answerBytes"> {
  readonly addNote: (text: string) => void;
}

/** The answer of a call that failed; it has the members of the error of an MCP server or an API, if any. */
function createErrorAnswer(
  error: unknown,
  method: Method | undefined,
  { answerBytes, addNote }: ErrorAnswerOptions,
): SandboxAnswer {
  const facts = toErrorFacts(error, method);
  const serverError = error instanceof SkillgateError ? error.facts.serverError : undefined;
  if (serverError === undefined) return { ok: false, error: facts };
  const { code = facts["code"], data, content, http } = serverError;
  const encoded = encodeForGuest({ data, content, ...http }, answerBytes);
  const isLarge = encoded === undefined || Buffer.byteLength(encoded.json) > answerBytes;
  if (isLarge) addNote(`An error has no data, because its data has more than ${answerBytes} bytes`);
  return { ok: false, error: { ...facts, code, ...(isLarge ? {} : (JSON.parse(encoded.json) as object)) } };
}

/** Answers a question about skills, results or the run; no method is called. */
async function answerBuiltin(call: SandboxCall, request: RunRequest, services: RunServices): Promise<SandboxAnswer> {
  try {
    if (call.path === "result") {
      const { json, tagged } = await getResult(readArguments(call), services.handles, request.caller);
      return { ok: true, json, tagged };
    }
    if (call.path === "budget") return { ok: true, json: JSON.stringify(call.readBudget()) };
    if (call.path === INPUT_PATH) return { ok: true, json: getInput(request) };
    const answer = await callBuiltin(call.path, readArguments(call), request, services);
    return { ok: true, json: JSON.stringify(answer) };
  } catch (error) {
    return { ok: false, error: toErrorFacts(hidePlace(error), undefined) };
  }
}

/** Pauses the run's clock while a user is asked. Before the provider is invoked, the run may be suspended meanwhile. */
async function pauseClockDuring<Value>(
  call: SandboxCall,
  answer: Promise<Value>,
  record: RecordedRunCalls | undefined,
): Promise<Value> {
  const suspendable = record?.isBeforeBegin(call.id) === true;
  const goOn = call.hold({ suspendable });
  const endWait = suspendable ? record?.onWait(call.id) : undefined;
  try {
    const value = await answer;
    if (suspendable) await record?.requireRights();
    return value;
  } finally {
    endWait?.();
    goOn();
  }
}
