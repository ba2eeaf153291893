import {
  findProgramPosition,
  getEngineHint,
  parseTagged,
  type ResultDescription,
  type SandboxOutcome,
  toEngineLimit,
} from "../../../sandbox/index.ts";
import { ERRORS, type ErrorCode, sentence } from "../../errors.ts";
import type { Caller } from "../../model/caller.ts";
import { MAX_DEPTH } from "../../shared/values/value-size.ts";
import { formatList } from "../../shared/format-text.ts";
import { createSourceText } from "../../shared/source-text.ts";
import { parseJsonObject } from "../../model/json.ts";
import type { Limits } from "../../model/limits.ts";
import { createUnparsedOutcome } from "../../shared/json/outcome-value.ts";
import type { CallRecord, GuestError, Outcome, Position, Usage, Violation } from "../../model/outcome.ts";
import { KEPT_RESULT_BYTES, type ResultHandles, type RunResults } from "../../model/kept-results.ts";
import {
  describeLargeText,
  describeLargeValue,
  formatValue,
  isLarge,
  NO_OUTPUT,
  summarizeValue,
} from "./answer-text.ts";
import { formatMisreads } from "./misreads.ts";
import type { Program } from "../../model/program.ts";
import { decodeFromGuest, encodeForGuest } from "../../shared/values/value-encoding.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";

/** The facts of a run that has ended, from which its outcome is made. */
export interface RunEnd {
  readonly runId: string;
  readonly caller: Caller;
  readonly source: string;
  readonly program: Program;
  readonly sandbox: SandboxOutcome;
  /** Why the host ended the run, if it did. */
  readonly stop?: { readonly code: ErrorCode; readonly values: string };
  readonly calls: readonly CallRecord[];
  readonly notes: readonly string[];
  readonly limits: Limits;
  readonly results: RunResults;
  readonly handles: ResultHandles;
  readonly secrets: KnownSecrets;
  /** The words of the reason why the run was cancelled, if there are any. */
  readonly cancelReason: string | undefined;
}

/** Misreads that a hint names; the last ones may have nothing to do with the error. */
const MAX_HINTED_MISREADS = 3;

/** Violations that are shown to a model at once; the outcome has them all. */
const MAX_SHOWN_VIOLATIONS = 5;

/** Further places of a mistake that are listed. */
const MAX_SHOWN_PLACES = 10;

/** The outcome of a program that was not run. `continues` is the run that it corrects. */
export function refusedOutcome(runId: string, violations: readonly Violation[], continues?: string): Outcome {
  const byMessage = new Map<string, Violation[]>();
  for (const violation of violations) {
    const same = byMessage.get(violation.message);
    if (same === undefined) byMessage.set(violation.message, [violation]);
    else same.push(violation);
  }
  const mistakes = [...byMessage.values()];
  const visible = mistakes.slice(0, MAX_SHOWN_VIOLATIONS).map(formatMistake);
  const more = mistakes.length - visible.length;
  const text = `Refused; nothing was called.\n\n${visible.join("\n\n")}${more > 0 ? `\n\n… and ${more} more` : ""}`;
  if (continues === undefined) return { kind: "refused", runId, violations, text };
  const how = formatContinueHint(continues);
  return { kind: "refused", runId, violations, text: `${text}\n\n${how}`, continue: continues };
}

/** Says how a program continues a run. A failure that is over in a moment leaves nothing to correct. */
export function formatContinueHint(run: string, program: "corrected" | "same" = "corrected"): string {
  const which = program === "same" ? "the same program" : "the whole corrected program";
  return `Effects that succeeded are not repeated: send ${which} with continue: ${JSON.stringify(run)}`;
}

/** Formats the same mistake at one place or several: in full for the first, then only the further places. */
function formatMistake([first, ...others]: readonly Violation[]): string {
  const positions = others.map(({ line, column }) => `line ${line}, column ${column + 1}`);
  const more = positions.length === 0 ? "" : `The same mistake: ${formatList(positions, MAX_SHOWN_PLACES, "; ")}`;
  return [first?.message, first?.frame, first?.fix, more].filter(Boolean).join("\n");
}

/** The outcome of a program that ran, in the terms of the text that the model wrote. */
export function createOutcome(ending: RunEnd): Outcome {
  const { runId, sandbox, calls, limits } = ending;
  const output = formatOutput(sandbox, limits);
  const usage: Usage = {
    cpuMs: sandbox.cpuMs,
    wallMs: sandbox.wallMs,
    memoryBytes: sandbox.memoryBytes,
    calls: sandbox.calls,
  };
  const returned = readReturnedValue(ending);
  if (returned !== undefined) return createCompletedOutcome(ending, returned, output, usage);
  const error = toGuestError(ending);
  const notes = formatRunNotes(ending);
  const lines = new Set(error.hint.split("\n"));
  const further = notes.filter((note) => !lines.has(note)).map((note) => `Note: ${note}`);
  const message = `${error.message}${at(error)}`;
  const text = [output, message, error.frame, error.hint, ...further].filter(Boolean).join("\n");
  return { kind: "failed", runId, error, output, text, notes, calls, usage };
}

function toGuestError(ending: RunEnd): GuestError {
  const { end } = ending.sandbox;
  if (ending.stop !== undefined)
    return { ...stoppedError(ending, ending.stop.code), message: sentence(ending.stop.code, ending.stop.values) };
  switch (end.kind) {
    case "threw":
      return thrownError(ending, end.json);
    case "stopped":
      return stoppedError(ending, end.reason);
    case "returned":
      return stoppedError(ending, "ENGINE_TRAP"); // only a corrupted guest returns what is not JSON
    case "suspended":
      throw new TypeError("A run that is suspended has not failed");
  }
}

/** The value that a run returned: as it is, too large to decode here, or large and described by its worker. */
type Returned = { readonly json: string; readonly bytes: number } & (
  | { readonly kind: "decoded"; readonly value: unknown }
  | { readonly kind: "tooLarge" }
  | { readonly kind: "described"; readonly description: ResultDescription }
);

/** Returns `undefined` if the text is not JSON, which only a corrupted guest returns. */
function readReturnedValue({ sandbox: { end }, limits, secrets }: RunEnd): Returned | undefined {
  if (end.kind !== "returned") return undefined;
  const { json, tagged = json, description } = end;
  const bytes = Buffer.byteLength(json);
  if (bytes > getDecodedBytes(limits)) return { kind: "tooLarge", json, bytes };
  if (description !== undefined && !json.includes('"$bytes"') && !secrets.mayBeIn(json))
    return { kind: "described", json, bytes, description };
  const parse = tagged === json ? JSON.parse : parseTagged;
  try {
    return { kind: "decoded", json, bytes, value: decodeFromGuest(tagged, parse) };
  } catch {
    return undefined;
  }
}

/** Bytes of the JSON of results that are decoded; larger ones are only kept. */
export function getDecodedBytes({ resultBytes, answerBytes }: Limits): number {
  return Math.max(resultBytes, answerBytes);
}

function createCompletedOutcome(ending: RunEnd, returned: Returned, output: string, usage: Usage): Outcome {
  const { runId, calls, limits, results, secrets } = ending;
  const { json, bytes: size } = returned;
  const notes = [...formatRunNotes(ending), ...formatUnfinishedCalls(calls), ...queuedNotes(ending.sandbox)];
  const facts = { kind: "completed", runId, output, calls, usage } as const;
  let value = returned.kind === "decoded" ? returned.value : undefined;
  if (size > limits.resultBytes) {
    // Before it is cut, which could leave half of a secret.
    const masked = secrets.mask(json);
    const uri = results.keep(runId, masked, ending.caller);
    value = `${Buffer.from(masked).toString("utf8", 0, limits.resultBytes).replace(/�$/, "")}…`;
    const where = `at ${uri} with device.read_result(uri, offset, length)`;
    notes.push(`The result has ${size} bytes and was cut at ${limits.resultBytes}: read it in parts ${where}`);
  }
  const visible = formatResult(ending, returned, value);
  const answer = [output, visible].filter(Boolean).join("\n") || NO_OUTPUT;
  const text = [answer, ...notes.map((note) => `Note: ${note}`)].join("\n");
  return returned.kind === "described" && size <= limits.resultBytes
    ? createUnparsedOutcome({ ...facts, text, notes }, json)
    : { ...facts, value, text, notes };
}

/** Returns notes on how the program was read, and on what it waited for and misread. */
function formatRunNotes(ending: RunEnd): readonly string[] {
  return [...ending.notes, ...waitNotes(ending), ...misreadNotes(ending)];
}

/** The result in the text for a model: whole, or its shape and a handle. `cutValue` is the value, cut at `resultBytes`. */
function formatResult(ending: RunEnd, returned: Returned, cutValue: unknown): string {
  const { limits, handles, caller, secrets, sandbox } = ending;
  const { json } = returned;
  if (returned.kind === "described") {
    const { text, summary } = returned.description;
    const canReturn = returned.bytes <= limits.answerBytes;
    return `${text}${formatUse(canReturn ? handles.keep(caller, { json, tagged: false, summary }) : undefined)}`;
  }
  const text = formatValue(cutValue, json);
  if (!isLarge(text, limits) || sandbox.end.kind !== "returned") return text;
  if (returned.kind === "tooLarge") return describeLargeText(text, json.length);
  const { value } = returned;
  const { tagged } = sandbox.end;
  const masked = secrets.maskValue(value);
  // A mask inside of JSON could leave a text that is not JSON.
  const encoded =
    masked === value
      ? { json: tagged ?? json, tagged: tagged !== undefined }
      : encodeForGuest(masked, limits.answerBytes);
  const canReturn = encoded !== undefined && Buffer.byteLength(encoded.json) <= limits.answerBytes;
  const handle = canReturn ? handles.keep(caller, { ...encoded, summary: summarizeValue(value) }) : undefined;
  return `${describeLargeValue(masked, json.length)}${formatUse(handle)}`;
}

function formatUse(handle: string | undefined): string {
  return handle === undefined ? "" : `\nThe whole value is device.result("${handle}") in a later program`;
}

function formatOutput(sandbox: SandboxOutcome, limits: Limits): string {
  return sandbox.outputCut ? `${sandbox.output}\n… output cut at ${limits.outputBytes} bytes` : sandbox.output;
}

/** Returns notes on the lines where the run waited for a promise, except those that the gatekeeper has reported. */
function waitNotes(ending: RunEnd): readonly string[] {
  const { sandbox, program } = ending;
  const lines = sandbox.waits.map((stack) => findPosition(stack, ending).line);
  const found = [...new Set(lines)]
    .filter((line) => line > 0 && !program.waits.includes(line))
    .toSorted((a, b) => a - b);
  if (found.length === 0) return [];
  return [`Waited for a promise at line ${found.join(", ")}, as await was missing`];
}

function misreadNotes(ending: RunEnd): readonly string[] {
  return formatMisreads(ending.sandbox.misreads, ending.source, (stack) => findPosition(stack, ending));
}

function formatUnfinishedCalls(calls: readonly CallRecord[]): readonly string[] {
  const unfinished = calls
    .filter((call) => call.outcome === "unfinished")
    .map((call) => `${call.skill}.${call.method}`);
  if (unfinished.length === 0) return [];
  return [`The program ended before these calls did, and they were cancelled: ${unfinished.join(", ")}. Await them`];
}

function queuedNotes({ queued }: SandboxOutcome): readonly string[] {
  if (queued.length === 0) return [];
  return [`The program ended before these calls were made, as others were pending: ${formatPaths(queued)}. Await them`];
}

/** Paths that a message lists. */
const MAX_PATHS = 10;

/** `ShopMCP.list_orders (36 times), ShopMCP.get_order` */
function formatPaths(paths: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  const visible = [...counts]
    .slice(0, MAX_PATHS)
    .map(([path, times]) => (times === 1 ? path : `${path} (${times} times)`));
  return `${visible.join(", ")}${counts.size > MAX_PATHS ? ` and ${counts.size - MAX_PATHS} others` : ""}`;
}

function stoppedError(ending: RunEnd, code: ErrorCode): GuestError {
  const why = code === "CANCELLED" ? ending.cancelReason : undefined;
  return {
    name: "LimitError",
    code,
    message: sentence(
      code,
      `${why ?? limitText(code, ending.limits)}${madeCalls(code, ending.sandbox)}${formatOpenCalls(code, ending)}`,
    ),
    line: 0,
    column: 0,
    frame: "",
    hint: ERRORS[code].fix,
  };
}

/** The values that the message of a limit quotes. */
const LIMIT_TEXTS: Partial<Record<ErrorCode, (limits: Limits) => string>> = {
  CPU_LIMIT: ({ cpuMs }) => `the program computed for ${cpuMs} ms`,
  WALL_LIMIT: ({ wallMs }) => `the run took ${wallMs} ms`,
  MEMORY_LIMIT: ({ memoryBytes }) => `the program needs more than ${memoryBytes} bytes`,
  STACK_LIMIT: () => "the program calls functions too deeply",
  CALL_LIMIT: ({ calls }) => `the run made ${calls} calls`,
  CALLS_IN_FLIGHT_LIMIT: ({ callsInFlight, argumentBytes }) =>
    `the arguments of calls without an answer have more than ${callsInFlight} × ${argumentBytes} bytes`,
  ARGUMENT_LIMIT: ({ argumentBytes }) => `the arguments have more than ${argumentBytes} bytes`,
  RESULT_LIMIT: ({ resultBytes }) => `the result has more than ${Math.max(resultBytes, KEPT_RESULT_BYTES)} bytes`,
  CANCELLED: () => "the caller aborted it or closed the runtime",
  NESTING_LIMIT: () => `the result has more than ${MAX_DEPTH} levels`,
  NEVER_SETTLES: () => "no call or timer is pending",
  REPLAY_DIVERGED: () => "the program or the engine has changed since",
};

/** Says how far the run came: its calls have had their effects. */
function madeCalls(code: ErrorCode, { calls, queued }: SandboxOutcome): string {
  const progress =
    code === "CALL_LIMIT" || calls === 0 ? "" : `; it had made ${calls} ${calls === 1 ? "call" : "calls"}`;
  return queued.length === 0 ? progress : `${progress}; not made yet were ${formatPaths(queued)}`;
}

/** Names the calls that were under way when the time of the run was over. */
function formatOpenCalls(code: ErrorCode, { calls }: RunEnd): string {
  const open = calls.filter(({ outcome }) => outcome === "unfinished");
  if (code !== "WALL_LIMIT" || open.length === 0) return "";
  const paths = formatPaths(open.map(({ skill, method }) => `${skill}.${method}`));
  return `; under way ${open.length === 1 ? "was" : "were"} ${paths}`;
}

function limitText(code: ErrorCode, limits: Limits): string {
  return LIMIT_TEXTS[code]?.(limits) ?? "the run was stopped";
}

/** Reads an error that the guest threw. Every part of it may be forged, so each is checked and none is trusted. */
function thrownError(ending: RunEnd, json: string): GuestError {
  const thrown = parseThrown(json);
  if (Object.keys(thrown).length === 0) return stoppedError(ending, "ENGINE_TRAP");
  const text = (key: string): string => (typeof thrown[key] === "string" ? thrown[key] : "");
  const limit = toEngineLimit(text("name"), text("message"));
  const code = limit ?? toErrorCode(text("code"), text("name"));
  const position = findPosition(text("stack"), ending);
  const members = code === "THROWN" && text("members") !== "" ? ` ${text("members")}` : "";
  const own = code === "THROWN" ? `${text("name") || "Error"}: ${text("message")}${members}` : text("message");
  const message = limit === undefined ? own : stoppedError(ending, limit).message;
  return {
    name: text("name") || "Error",
    code,
    message,
    ...position,
    frame: position.line === 0 ? "" : frameAt(ending.source, position),
    hint: code === "THROWN" ? hintFor(text("message"), misreadNotes(ending)) : ERRORS[code].fix,
    ...(text("skill") && { skill: text("skill") }),
    ...(text("method") && { method: text("method") }),
    ...(text("server") && { server: text("server") }),
  };
}

/** Prefers the misreads: they explain an error of the engine better than its message does. */
function hintFor(message: string, misreads: readonly string[]): string {
  const hint = getEngineHint(message);
  return hint === "" || misreads.length === 0 ? hint : misreads.slice(0, MAX_HINTED_MISREADS).join("\n");
}

function parseThrown(json: string): Record<string, unknown> {
  return parseJsonObject(json) ?? {}; // only a corrupted guest sends unreadable JSON
}

/** The error of a call has the code of its MCP server, if that sent one. */
function toErrorCode(code: string, name: string): ErrorCode {
  if (Object.hasOwn(ERRORS, code)) return code as ErrorCode;
  return name === "CallError" && /^-?\d+$/.test(code) ? "CALL_FAILED" : "THROWN";
}

function findPosition(stack: string, { program }: RunEnd): Position {
  const found = findProgramPosition(stack, program.code);
  return found === undefined ? { line: 0, column: 0 } : program.toSourcePosition(found.line, found.column);
}

function frameAt(source: string, position: Position): string {
  const text = createSourceText(source);
  const start = text.offset(position);
  return text.frame(start, start + 1);
}

function at({ line, column }: Position): string {
  return line === 0 ? "" : ` (line ${line}, column ${column + 1})`;
}
