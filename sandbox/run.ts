import type { Parked } from "./image.ts";
import type { Allowance, Deeds, End, GuestCall, Print, Timer } from "./protocol.ts";

/** What one run may use; see the fields of the same names in the package's own limits. */
export interface RunLimits {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
  readonly callsInFlight: number;
  readonly argumentBytes: number;
  readonly answerBytes: number;
  readonly resultBytes: number;
  readonly outputBytes: number;
}

export interface Program {
  /** Statements of the body of a strict async function. */
  readonly code: string;
  /** What `device` shall have: `Skill.method`, or a plain name. */
  readonly paths: readonly string[];
  /** Eight bytes for `Math.random`; fresh ones if missing. */
  readonly seed?: Uint8Array;
}

/** A call as the guest made it. Nothing in it has been checked. */
export interface SandboxCall {
  readonly id: number;
  readonly path: string;
  /** JSON, as the guest wrote it, of a list of arguments. */
  readonly arguments: string;
  /** Fires when the run ends before the answer is in. */
  readonly signal: AbortSignal;
  /** True where an earlier process asked this already and did not learn the answer. */
  readonly resumed: boolean;
}

/** `json` may hold `{"$bytes": base64}` and `{"$date": iso}` where `tagged` is set. */
export type SandboxAnswer =
  | { readonly ok: true; readonly json: string; readonly tagged?: boolean }
  | { readonly ok: false; readonly error: Readonly<Record<string, unknown>> };

export type Answer = (call: SandboxCall) => Promise<SandboxAnswer>;

/** What ended a run that neither returned nor threw. */
export type Reason =
  | "CPU_LIMIT"
  | "WALL_LIMIT"
  | "MEMORY_LIMIT"
  | "STACK_LIMIT"
  | "CALL_LIMIT"
  | "CALLS_IN_FLIGHT_LIMIT"
  | "ARGUMENT_LIMIT"
  | "RESULT_LIMIT"
  | "NEVER_SETTLES"
  | "CANCELLED"
  | "ENGINE_TRAP";

export type SandboxEnd =
  | { readonly kind: "returned"; readonly json: string }
  /** `json` is what the guest says of the error: `{name, message, stack, code?, …}`, all of it untrusted. */
  | { readonly kind: "threw"; readonly json: string }
  | { readonly kind: "stopped"; readonly reason: Reason }
  /** Put aside while it waited: `state` can be resumed later, also by another process of the same version. */
  | { readonly kind: "parked"; readonly state: RunState };

/** A run that waits, as plain data. */
export interface RunState {
  readonly limits: RunLimits;
  readonly parked: { readonly bytes: Uint8Array; readonly range: Parked["range"] };
  /** Calls without an answer, as the guest made them. */
  readonly pending: readonly GuestCall[];
  /** JSON of answers that the guest has not seen yet. */
  readonly answers: readonly string[];
  readonly timers: readonly Timer[];
  readonly prints: readonly Print[];
  readonly cpuMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
}

export interface SandboxOutcome {
  readonly end: SandboxEnd;
  /** What was printed, in order, one line for each call of `console` or `print`. */
  readonly output: string;
  readonly outputCut: boolean;
  /** Calls that had no answer when the run ended; they were cancelled. */
  readonly unfinished: readonly number[];
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly memoryBytes: number;
  readonly calls: number;
}

/** Timers that a guest may have running; its own code allows fewer. */
const MOST_TIMERS = 2_000;

/** One run, as the host's thread sees it: what it waits for, what it has used, how it ended. */
export class Run {
  readonly id: number;
  readonly program: Program;
  readonly limits: RunLimits;
  /** True once a worker was asked to start it. */
  started = false;
  /** Its pages, while it lies in no worker's isolate. */
  parked: Parked | undefined;
  /** It shall be put aside for good as soon as it waits. */
  leaving = false;
  readonly #answer: Answer;
  readonly #ready: (run: Run) => void;
  readonly #settle: (outcome: SandboxOutcome) => void;
  readonly #print: (text: string) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #timers = new Map<number, Alarm>();
  #prints: Print[] = [];
  readonly #startedAt = performance.now();
  readonly #wallTimer: NodeJS.Timeout;
  #answers: string[] = [];
  #answersLength = 0;
  #outputLeft: number;
  #outputCut = false;
  #cpuMs = 0;
  #memoryBytes = 0;
  #calls = 0;
  #over = false;

  constructor(
    id: number,
    program: Program,
    limits: RunLimits,
    answer: Answer,
    on: {
      readonly ready: (run: Run) => void;
      readonly settle: (outcome: SandboxOutcome) => void;
      readonly print: (text: string) => void;
    },
  ) {
    this.id = id;
    this.program = program;
    this.limits = limits;
    this.#answer = answer;
    this.#ready = on.ready;
    this.#settle = on.settle;
    this.#print = on.print;
    this.#outputLeft = limits.outputBytes;
    this.#wallTimer = setTimeout(() => this.stop("WALL_LIMIT"), limits.wallMs);
  }

  /** Takes up a run that was put aside. */
  restore(state: RunState): void {
    this.started = true;
    const shared = new SharedArrayBuffer(state.parked.bytes.length);
    new Uint8Array(shared).set(state.parked.bytes);
    this.parked = { bytes: shared, range: state.parked.range };
    this.#prints = [...state.prints];
    for (const print of state.prints) this.#outputLeft -= Buffer.byteLength(print.text) + 1;
    this.#cpuMs = state.cpuMs;
    this.#memoryBytes = state.memoryBytes;
    this.#calls = state.calls - state.pending.length;
    for (const timer of state.timers) this.#setTimer(timer);
    for (const answer of state.answers) this.#arrived(answer);
    for (const call of state.pending) void this.#make(call, true);
  }

  /** Ends the run here: what is left of it is its state. It must be parked. */
  leave(): void {
    const { parked, limits } = this;
    if (this.#over || parked === undefined) return;
    const now = performance.now();
    const state: RunState = {
      limits,
      parked: { bytes: Uint8Array.from(new Uint8Array(parked.bytes)), range: parked.range },
      pending: [...this.#pending.values()].map(({ call }) => call),
      answers: this.#answers,
      timers: [...this.#timers].map(([id, { at }]) => ({ id, milliseconds: Math.max(0, at - now) })),
      prints: this.#prints,
      cpuMs: this.#cpuMs,
      memoryBytes: this.#memoryBytes,
      calls: this.#calls,
    };
    this.#finish({ kind: "parked", state });
  }

  get over(): boolean {
    return this.#over;
  }

  get hasAnswers(): boolean {
    return this.#answers.length > 0;
  }

  /** What the run may still use, counted from now. */
  allowance(): Allowance {
    const { limits } = this;
    return {
      computeMs: Math.max(1, Math.min(limits.cpuMs - this.#cpuMs, this.#wallLeftMs())),
      calls: limits.calls - this.#calls,
      callsInFlight: limits.callsInFlight - this.#pending.size,
      argumentBytes: limits.argumentBytes,
      resultBytes: limits.resultBytes,
      outputBytes: this.#outputLeft,
    };
  }

  /** JSON of the answers that are in, to be delivered together. */
  takeAnswers(): string {
    const answers = `[${this.#answers.join(",")}]`;
    this.#answers = [];
    this.#answersLength = 0;
    return answers;
  }

  /** A slice of work is over. */
  onSlice(deeds: Deeds, end: End | undefined): void {
    this.#account(deeds);
    if (this.#over) return;
    // Also the calls that a snippet has made and not waited for: they are cancelled at once, and so they are told of.
    if (end?.kind !== "stop") for (const call of deeds.calls) void this.#make(call);
    if (end !== undefined) {
      this.#end(end);
      return;
    }
    if (this.#timers.size > MOST_TIMERS) this.stop("ENGINE_TRAP");
    if (this.#pending.size === 0 && this.#timers.size === 0 && !this.hasAnswers) this.stop("NEVER_SETTLES");
  }

  /** The guest stands still for a call. Resolves to JSON of `[ok, value]`. */
  async onWait(deeds: Deeds, call: GuestCall): Promise<string> {
    this.#account(deeds);
    for (const other of deeds.calls) void this.#make(other);
    return `[${await this.#ask(call)}]`;
  }

  /** Ends the run from outside of the guest. */
  stop(reason: Reason): void {
    this.#finish({ kind: "stopped", reason });
  }

  #end(end: End): void {
    switch (end.kind) {
      case "done":
        this.#finish({ kind: "returned", json: end.json });
        return;
      case "fail":
        this.#finish({ kind: "threw", json: end.json });
        return;
      case "stop":
        this.stop(this.#reasonOf(end.stop));
    }
  }

  #reasonOf(stop: Extract<End, { kind: "stop" }>["stop"]): Reason {
    switch (stop) {
      case "time":
        return this.#wallLeftMs() <= 0 ? "WALL_LIMIT" : "CPU_LIMIT";
      case "memory":
        return "MEMORY_LIMIT";
      case "stack":
        return "STACK_LIMIT";
      case "calls":
        return "CALL_LIMIT";
      case "callsInFlight":
        return "CALLS_IN_FLIGHT_LIMIT";
      case "argument":
        return "ARGUMENT_LIMIT";
      case "result":
        return "RESULT_LIMIT";
      case "trap":
      case "protocol":
        return "ENGINE_TRAP";
    }
  }

  async #make(call: GuestCall, resumed = false): Promise<void> {
    if (this.#over) return;
    if (this.#pending.has(call.id)) {
      this.stop("ENGINE_TRAP"); // numbers are given once; a guest that repeats one is not ours any more
      return;
    }
    const answer = await this.#ask(call, resumed);
    if (this.#over) return;
    this.#arrived(`${call.id},${answer}`);
  }

  /** Asks the host's side; never rejects. Resolves to JSON of `ok, value`. */
  async #ask(call: GuestCall, resumed = false): Promise<string> {
    const pending = new Pending(call, resumed);
    this.#pending.set(call.id, pending);
    this.#calls++;
    const answer = await this.#answer(pending);
    if (!this.#over) this.#pending.delete(call.id);
    if (!answer.ok) return `0,${JSON.stringify(answer.error)}`;
    if (answer.json.length > this.limits.answerBytes)
      return `0,${JSON.stringify(tooLarge(answer.json.length, this.limits.answerBytes))}`;
    return `${answer.tagged === true ? 2 : 1},${answer.json}`;
  }

  #arrived(answer: string): void {
    this.#answers.push(answer);
    this.#answersLength += answer.length;
    // What the guest cannot hold anyway must not pile up here.
    if (this.#answersLength > this.limits.memoryBytes) this.stop("MEMORY_LIMIT");
    if (this.#answers.length === 1) this.#ready(this);
  }

  #account(deeds: Deeds): void {
    this.#cpuMs += deeds.computeMs;
    this.#memoryBytes = Math.max(this.#memoryBytes, deeds.heapBytes);
    if (this.#over) return;
    for (const print of deeds.prints) {
      this.#prints.push(print);
      this.#outputLeft -= Buffer.byteLength(print.text) + 1;
      if (this.#outputLeft >= 0) this.#print(print.text);
    }
    if (this.#outputLeft < 0) this.#outputCut = true;
    for (const timer of deeds.timers) this.#setTimer(timer);
  }

  #setTimer({ id, milliseconds }: Timer): void {
    clearTimeout(this.#timers.get(id)?.timeout);
    this.#timers.delete(id);
    if (!(milliseconds >= 0)) return;
    const fire = (): void => {
      this.#timers.delete(id);
      this.#arrived(`${id},1,null`);
    };
    const delay = Math.min(milliseconds, this.limits.wallMs);
    this.#timers.set(id, { timeout: setTimeout(fire, delay), at: performance.now() + delay });
  }

  #wallLeftMs(): number {
    return this.limits.wallMs - (performance.now() - this.#startedAt);
  }

  #finish(end: SandboxEnd): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#wallTimer);
    for (const { timeout } of this.#timers.values()) clearTimeout(timeout);
    this.parked = undefined;
    this.#answers = [];
    const unfinished = [...this.#pending.keys()];
    this.#settle({
      end,
      output: this.#output(),
      outputCut: this.#outputCut,
      unfinished,
      cpuMs: this.#cpuMs,
      wallMs: performance.now() - this.#startedAt,
      memoryBytes: this.#memoryBytes,
      calls: this.#calls,
    });
    for (const pending of this.#pending.values()) pending.cancel();
  }

  #output(): string {
    const text = this.#prints
      .sort((a, b) => a.slot - b.slot)
      .map((print) => print.text)
      .join("\n");
    return this.#outputCut ? Buffer.from(text).subarray(0, this.limits.outputBytes).toString().replace(/�$/, "") : text;
  }
}

/** A call without an answer. Its signal is made when somebody asks for it: most calls are over before. */
class Pending implements SandboxCall {
  readonly call: GuestCall;
  readonly resumed: boolean;
  #controller: AbortController | undefined;

  constructor(call: GuestCall, resumed: boolean) {
    this.call = call;
    this.resumed = resumed;
  }

  get id(): number {
    return this.call.id;
  }

  get path(): string {
    return this.call.path;
  }

  get arguments(): string {
    return this.call.arguments;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}

interface Alarm {
  readonly timeout: NodeJS.Timeout;
  /** When it goes off, in `performance.now()`. */
  readonly at: number;
}

function tooLarge(bytes: number, limit: number): Readonly<Record<string, unknown>> {
  return {
    name: "CallError",
    code: "ANSWER_LIMIT",
    message: `Cannot take a call result of this size: ${bytes} bytes, at most ${limit} (ANSWER_LIMIT)`,
  };
}
