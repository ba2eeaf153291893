import { AsyncLocalStorage } from "node:async_hooks";
import { Socket } from "node:net";
import { Worker } from "node:worker_threads";

import { sentence } from "../../../../errors.ts";
import { findSizeExcess, TOO_DEEP } from "../../../../shared/values/value-size.ts";
import { Builtins } from "./builtins.ts";
import { followConsole } from "./console.ts";
import { toFailure } from "./failure.ts";
import { packMessage, readWord, MessageTooLarge, Unpacker } from "../framing.ts";
import { canSpin } from "../../../../../sandbox/processors.ts";
import { EventLoopSpin } from "../../../../../sandbox/spin-wait.ts";
import { loadModule, type ImportedModule } from "./load-module.ts";
import {
  CHANNEL,
  describeMemoryExcess,
  type Failure,
  type InvokeRequest,
  type LoadRequest,
  nowMs,
  type Request,
  type Response,
  type StoreQuestion,
} from "../messages.ts";
import { describeWithheld, followWithheld } from "../skill-environment.ts";
import { OWN_CODE } from "../skill-errors.ts";
import { NestedTooDeeply, NotCloneable, toPlainData } from "../../../../shared/values/clone-data.ts";
import { runCall } from "./run-call.ts";
import { showSourcesInStacks } from "./stacks.ts";
import { writeAllSync } from "./write-sync.ts";

const SPIN_MS = 0.5;
const READ_BYTES = 64 << 10;

/**
 * The main script of the skill process. Skills can only damage this process: the runtime monitors it from outside,
 * kills it when it stops responding, and starts another one.
 */
const [limitBytes = 0, parent = 0] = process.argv.splice(2).map(Number);
const exit = process.exit.bind(process);
/** Writes JSON, whatever skills make of the global function. */
const { stringify } = JSON;
const send = openChannel();
const modules = new Map<string, ImportedModule>();
const calls = new Map<number, AbortController>();
let lastLoad: Promise<void> = Promise.resolve();
/** Spins after a request, because another one often follows. */
const spinWait = new EventLoopSpin(canSpin() ? SPIN_MS : 0);
/** Requests to the runtime that are not answered yet. */
const questions = new Map<
  number,
  { readonly resolve: (value: unknown) => void; readonly reject: (why: Error) => void }
>();
let lastAsk = 0;
const builtins = new Builtins();
/** The import or call whose code runs, which outlives it in timers and promises. */
interface RunningCode {
  readonly module: string;
  /** `Skill.method` of a call. */
  readonly path?: string;
  readonly call?: number;
  /** Lines that it may still print as reports; more go to stdout. */
  linesLeft: number;
}

const MAX_LINES = 1_000;
const MAX_LINE_CHARACTERS = 16_384;
/** The withheld variables that each module has read. */
const withheldReads = new Map<string, Set<string>>();
/** Attributes errors and printed lines to the import or call that caused them. */
const current = new AsyncLocalStorage<RunningCode>();

process.title = "skillgate skills";
showSourcesInStacks();
followConsole((level, text) => {
  const activity = current.getStore();
  if (activity === undefined || activity.linesLeft-- <= 0) return false;
  const { module, path } = activity;
  send({
    kind: "console",
    level,
    text: text.slice(0, MAX_LINE_CHARACTERS),
    module,
    ...(path !== undefined && { path }),
  });
  return true;
});
followWithheld((name) => {
  const { module, path } = current.getStore() ?? {};
  if (module === undefined) return;
  const names = withheldReads.get(module) ?? new Set();
  withheldReads.set(module, names);
  if (names.has(name)) return;
  names.add(name);
  const text = describeWithheld([name]);
  send({ kind: "console", level: "warn", text, module, ...(path !== undefined && { path }) });
});
// The runtime decides when a Ctrl-C ends the skills.
process.on("SIGINT", () => undefined);
process.on("uncaughtException", attributeError);
process.on("unhandledRejection", attributeError);
process.exit = (code) => {
  throw Object.assign(new Error(`called process.exit(${code ?? ""}), but a skill cannot end the program`), {
    code: OWN_CODE,
  });
};
const watchdog = new Worker(new URL("./watchdog.js", import.meta.url), {
  workerData: { parent, limitBytes, excess: describeMemoryExcess(limitBytes) },
});
watchdog.unref();
send({ kind: "ready" });

/** Opens the channel. Its other end closes when this process must end, or when the runtime has exited. */
function openChannel(): (response: Response) => void {
  // The token is not on the command line, which every user of the machine can read.
  const own = readWord(CHANNEL);
  const orders = new Unpacker(own, (request) => handleRequest(request as Request));
  const buffer = Buffer.allocUnsafe(READ_BYTES);
  const read = (length: number): boolean => {
    // Copies the bytes: the next read reuses the buffer.
    orders.add(Buffer.from(buffer.subarray(0, length)));
    return true;
  };
  const options = { fd: CHANNEL, onread: { buffer, callback: read } };
  const channel = new Socket(options);
  for (const event of ["end", "close", "error"]) channel.on(event, end);
  channel.resume();
  return (response) => {
    // Shared references are small here, but expand when the runtime serializes the value.
    const excess = findSizeExcess(response);
    if (excess !== undefined) throw new MessageTooLarge(excess);
    const frame = packMessage(response, own);
    try {
      writeAllSync(CHANNEL, frame);
    } catch {
      end(); // The runtime has closed the channel.
    }
  };
}

/** Ends the process. Without a runtime, it is killed: exit handlers of skills may never end. */
function end(): void {
  if (process.ppid === parent) exit(0);
  else process.kill(process.pid, "SIGKILL");
}

function handleRequest(request: Request): void {
  spinWait.end();
  spinWait.begin();
  switch (request.kind) {
    case "load":
      // Modules load one after the other, so that one that hangs or ends the process can be identified.
      lastLoad = lastLoad.then(() => load(request));
      break;
    case "unload":
      lastLoad = lastLoad.then(() => void modules.delete(request.module));
      break;
    case "invoke":
      void invoke(request);
      break;
    case "answered":
      if (request.ok) questions.get(request.ask)?.resolve(request.value);
      else questions.get(request.ask)?.reject(new Error(request.message));
      questions.delete(request.ask);
      break;
    case "cancel":
      calls.get(request.call)?.abort();
      calls.delete(request.call);
      send({ kind: "cancelled", call: request.call });
      break;
  }
}

async function load(request: LoadRequest): Promise<void> {
  try {
    const activity: RunningCode = { module: request.module, linesLeft: MAX_LINES };
    const { module, response } = await current.run(activity, () => loadModule(request));
    const failure = request.isReload ? response.classes.find((each) => each !== undefined) : undefined;
    if (failure === undefined) modules.set(request.module, module);
    builtins.accept();
    send(failure === undefined ? { kind: "loaded", ...response } : { kind: "failed", failure });
  } catch (error) {
    send({ kind: "failed", failure: explainFailure(error, request.module) });
  }
}

/** Describes an error, with the variables that its module has read and does not get. */
function explainFailure(thrown: unknown, module: string | undefined): Failure {
  const failure = toFailure(thrown);
  const names = withheldReads.get(module ?? "");
  return names === undefined ? failure : { ...failure, message: `${failure.message} (${describeWithheld(names)})` };
}

async function invoke(request: InvokeRequest): Promise<void> {
  const { call } = request;
  if (nowMs() > request.startBy) {
    send({ kind: "late", call });
    return;
  }
  const abort = new AbortController();
  calls.set(call, abort);
  send({ kind: "started", call });
  const end = await runToEnd(request, abort.signal);
  try {
    if (calls.delete(call)) answer(request, end);
  } finally {
    // Runs after the answer is sent, because checking all built-ins takes time.
    const what = builtins.restore();
    if (what !== undefined) send({ kind: "changed", what, path: request.path });
  }
}

type InvokeEnd =
  | { readonly kind: "returned"; readonly value: unknown }
  | { readonly kind: "threw"; readonly thrown: unknown };

async function runToEnd(request: InvokeRequest, signal: AbortSignal): Promise<InvokeEnd> {
  const run = async (): Promise<unknown> => runCall(request, modules.get(request.module), signal, { send, ask });
  try {
    const { call, module, path } = request;
    return { kind: "returned", value: await current.run({ call, module, path, linesLeft: MAX_LINES }, run) };
  } catch (thrown) {
    return { kind: "threw", thrown };
  }
}

function ask(call: number, question: StoreQuestion): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ask = ++lastAsk;
    questions.set(ask, { resolve, reject });
    try {
      send({ kind: "question", call, ask, question });
    } catch (error) {
      // A value that cannot leave the process, such as a function.
      questions.delete(ask);
      reject(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function answer({ call, path, module }: InvokeRequest, end: InvokeEnd): void {
  try {
    if (end.kind === "returned") sendResult(call, end.value);
    else send({ kind: "error", call, failure: explainFailure(end.thrown, module), isStray: false });
  } catch (error) {
    send({ kind: "error", call, failure: failureToReturn(error, path), isStray: false });
  }
}

function sendResult(call: number, value: unknown): void {
  const { data, isJson } = toPlainData(value);
  if (isJson && typeof data === "object") send({ kind: "result", call, value: stringify(data), isJson });
  else send({ kind: "result", call, value: data });
}

/** Describes why a result cannot leave the process. */
function failureToReturn(error: unknown, path: string): Failure {
  if (error instanceof NestedTooDeeply || (error instanceof MessageTooLarge && error.message === TOO_DEEP)) {
    const message = sentence("NESTING_LIMIT", `"${path}" returned ${TOO_DEEP}`);
    return { name: "SkillgateError", message, stack: "", code: "NESTING_LIMIT" };
  }
  const message =
    error instanceof MessageTooLarge ? `returned ${error.message}` : `did not return plain data: ${reason(error)}`;
  return { name: "TypeError", message, stack: "", code: OWN_CODE };
}

/** Hides the message of a failed clone, which shows the source of functions. */
function reason(error: unknown): string {
  return error instanceof NotCloneable ? error.message : "it holds a value that is not data";
}

/** Fails the call that an uncaught error came from; an error without a call is only reported. */
function attributeError(error: unknown): void {
  const { call, module } = current.getStore() ?? {};
  const failure = explainFailure(error, module);
  if (call !== undefined && calls.delete(call)) send({ kind: "error", call, failure, isStray: true });
  else send({ kind: "stray", failure, ...(module !== undefined && { module }) });
}
