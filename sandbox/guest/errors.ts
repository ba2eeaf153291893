import { encode } from "./serialization.ts";
import {
  apply,
  create,
  data,
  define,
  defineProperty,
  indexOf,
  NativeError,
  NativeString,
  ownKeys,
  slice,
  stringify,
  symbolText,
} from "./primordials.ts";

const MESSAGE_LENGTH = 4_096;
const STACK_LENGTH = 8_192;
const NAME_LENGTH = 200;
const MEMBERS_LENGTH = 1_000;
/** Maximum of an error's members that are shown with its message. */
const MAX_MEMBERS = 20;
const KNOWN_MEMBERS: Readonly<Record<string, boolean>> = {
  __proto__: null as never,
  name: true,
  message: true,
  stack: true,
  fileName: true,
  lineNumber: true,
  columnNumber: true,
};
const FACTS = ["code", "skill", "method", "server"] as const;

const ALL_REJECTED = "All promises were rejected";

/** Gives the error of `Promise.any` a message: the engine's own has none. Runs once, before the snapshot is taken. */
export function nameRejections(): void {
  define(AggregateError.prototype, "message", ALL_REJECTED);
}

/** The host's description of a failed call. */
export interface CallFailure {
  readonly name?: string;
  readonly message?: string;
  readonly [fact: string]: unknown;
}

/**
 * Creates the error that a program catches: name, message, code, skill, method, server, and the stack of the call, which is
 * the host's unless the guest has recorded one.
 */
export function callError(failure: CallFailure, stack = `${failure["stack"] as string}`): Error {
  const error = new NativeError(`${failure.message}`);
  define(error, "name", `${failure.name}`);
  define(error, "stack", selectProgramFrames(stack));
  for (const key in failure) if (key !== "name" && key !== "message" && key !== "stack") data(error, key, failure[key]);
  return error;
}

/** Gives an error of a call that the guest has made for the program the stack of the program's own call. */
export function atCall(error: unknown, stack: string): unknown {
  if (typeof error === "object" && error !== null && (error as Error).stack === "")
    define(error, "stack", selectProgramFrames(stack));
  return error;
}

let lastThrown: unknown;
let lastStack = "";

/** Records the stack where the program throws, or rejects with, a value, because only errors have one. Returns the value. */
export function noteThrown(value: unknown): unknown {
  lastThrown = value;
  lastStack = stackHere();
  return value;
}

function findStack(thrown: unknown): string {
  const own = typeof thrown === "object" && thrown !== null ? text(() => (thrown as Error).stack, STACK_LENGTH) : "";
  return selectProgramFrames(own || (thrown === lastThrown ? lastStack : ""));
}

/** Creates the error of a wait that cannot end, because all code that could settle the promise waits itself. */
export function cannotSettle(): Error {
  const code = "WAIT_CYCLE";
  const message = `Cannot wait for a promise that nothing can settle meanwhile (${code})`;
  return callError({ name: "CallError", code, message }, stackHere());
}

/** Describes a thrown value as JSON. Reading it may run code of the program, so each step may fail by itself. */
export function describeThrown(thrown: unknown): string {
  const facts = create(null) as Record<string, unknown>;
  if (typeof thrown === "object" && thrown !== null) {
    const isError = text(() => (thrown as Error).message, 1) !== undefined;
    facts["name"] = text(() => (thrown as Error).name, NAME_LENGTH) ?? (isError ? "Error" : "Thrown");
    facts["message"] = isError
      ? (text(() => ownMessage(thrown) || innerMessages(thrown), MESSAGE_LENGTH) ?? "")
      : (text(() => toJson(thrown), MESSAGE_LENGTH) ?? "an object that JSON cannot hold");
    for (let i = 0; i < FACTS.length; i++) {
      const key = FACTS[i] as string;
      const value = text(() => (thrown as Record<string, unknown>)[key], 200);
      if (value !== undefined) facts[key] = value;
    }
    if (isError) facts["members"] = text(() => formatMembers(thrown), MEMBERS_LENGTH);
  } else {
    facts["name"] = "Thrown";
    facts["message"] = text(
      () => (typeof thrown === "symbol" ? symbolText(thrown) : NativeString(thrown)),
      MESSAGE_LENGTH,
    );
  }
  facts["stack"] = findStack(thrown);
  return stringify(facts);
}

function toJson(value: unknown): string {
  return encode(value) ?? "undefined";
}

/** Returns JSON of the members that an error has beside its message, such as its cause; undefined for the error of a call. */
function formatMembers(error: object): string | undefined {
  if ((error as Error).name === "CallError") return undefined;
  const isInMessage = ownMessage(error) === ""; // as `innerMessages` has the errors
  const members = create(null) as Record<string, unknown>;
  let count = 0;
  const keys = ownKeys(error);
  for (let i = 0; i < keys.length && count < MAX_MEMBERS; i++) {
    const key = keys[i] as string;
    if (typeof key !== "string" || KNOWN_MEMBERS[key] === true) continue;
    const value = (error as Record<string, unknown>)[key];
    if (value === undefined || (key === "errors" && isInMessage)) continue;
    members[key] = value;
    count++;
  }
  return count === 0 ? undefined : toJson(members);
}

/** Returns the message of an error; empty for that of `Promise.any`. */
function ownMessage(error: object): string {
  const message = NativeString((error as Error).message);
  return message === ALL_REJECTED ? "" : message;
}

/** Joins the first messages inside the error of `Promise.any`, which has none of its own. */
function innerMessages(thrown: object): string {
  const { name, errors } = thrown as AggregateError;
  if (name !== "AggregateError") return "";
  let joined = ALL_REJECTED;
  for (let i = 0; i < errors.length && i < 3; i++)
    joined += `${i === 0 ? ": " : "; "}${(errors[i] as Error | undefined)?.message}`;
  return joined;
}

/** Returns the current stack as text. */
export function stackHere(): string {
  return `${new NativeError().stack}`;
}

/** Prevents errors from calling back into a program while their stack is taken. */
export function freezeStackFormat(): void {
  for (const name of ["prepareStackTrace", "stackTraceLimit"]) {
    defineProperty(NativeError, name, {
      __proto__: null,
      value: name === "stackTraceLimit" ? 20 : undefined,
      writable: false,
      configurable: false,
    } as PropertyDescriptor);
  }
}

/** Selects the lines of a stack that have a position. The guest's own code has none. */
function selectProgramFrames(stack: string): string {
  let frames = "";
  for (let at = 0; at < stack.length;) {
    const found = indexOf(stack, "\n", at);
    const end = found < 0 ? stack.length : found + 1;
    const channel = slice(stack, at, end);
    if (indexOf(channel, "program.js:", 0) >= 0 || indexOf(channel, "(native)", 0) >= 0) frames += channel;
    at = end;
  }
  return frames;
}

function text(read: () => unknown, length: number): string | undefined {
  try {
    const value = apply(read, undefined, []) as unknown;
    return value === undefined || value === null ? undefined : slice(NativeString(value), 0, length);
  } catch {
    return undefined; // the program's own getter threw
  }
}
