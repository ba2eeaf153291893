import { type ChildProcess, fork } from "node:child_process";
import { Socket } from "node:net";
import { fileURLToPath } from "node:url";

import { messageOf } from "../../../errors.ts";
import type { CallContext } from "../../../model/skill.ts";
import { Ending } from "./ending.ts";
import { type InvokeOrder, type Loaded, type LoadOrder, nowMs, type Order, type Report } from "./messages.ts";
import { answerOfStore } from "./answer-of-store.ts";
import { parseReport } from "./parse-report.ts";
import { callCancelled, callFailed, errorOfCall, ModuleFailure, ProcessGone, runtimeClosed } from "./skill-errors.ts";

/** A call that the process has not begun after this time goes to another process. */
const START_MS = 1_000;
/** It may begin a call in the very last moment; its word must be here before the call goes elsewhere. */
const START_MARGIN_MS = 250;
/** How long it may stay silent after one of its calls was cancelled: alone, or beside calls that still count. */
const SILENCE_MS = { alone: 500, beside: 3_000 };
const FAREWELL_MS = 500;
/** How many imports are ordered before the first of them is over. */
const LOADS_AHEAD = 16;

const ENTRY = fileURLToPath(
  import.meta.url.endsWith(".ts")
    ? new URL("../../../../dist/src/providers/skills/process/entry.js", import.meta.url)
    : new URL("entry.js", import.meta.url),
);

export type CallRequest = Omit<InvokeOrder, "kind" | "call" | "startBy" | "context">;

/** How a call ended; `moved` means that it never began, so it can begin elsewhere. */
export type CallEnd =
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "error"; readonly error: Error }
  | { readonly kind: "moved" };

export interface ProcessOptions {
  /** The skills folder, of which no caller hears. */
  readonly root: string;
  /** Heap of the skills; half as much again is left for everything else. */
  readonly memoryBytes: number;
  readonly log: CallContext["log"];
  /** Calls wait that the process does not begin. Returns whether they may go elsewhere. */
  readonly onBlocked: () => boolean;
  readonly onEnd: () => void;
}

interface Call {
  readonly path: string;
  readonly context: CallContext;
  readonly end: (end: CallEnd) => void;
  hasBegun: boolean;
}

interface Load {
  readonly order: LoadOrder;
  readonly timeoutMs: number;
  readonly end: (end: LoadEnd) => void;
  isSent: boolean;
}

type LoadEnd =
  | Extract<Report, { kind: "loaded" | "failed" }>
  | { readonly kind: "ended"; readonly reason: "itself" | "another" | "unknown" };

/** One process with skills in it, seen from the runtime. */
export class SkillProcess {
  readonly #options: ProcessOptions;
  readonly #child: ChildProcess;
  readonly #ending: Ending;
  readonly #calls = new Map<number, Call>();
  /** Cancelled calls of which the process has not said yet that it knows. */
  readonly #silent = new Map<number, NodeJS.Timeout>();
  #isReady = false;
  /** By module. */
  readonly #imports = new Map<string, Promise<Loaded>>();
  /** Imports, in their order: the first is under way, those after it that were sent wait for it in the process. */
  readonly #loads: Load[] = [];
  /** The first of them, as far as its time is running. */
  #underWay: Load | undefined;
  #limit: NodeJS.Timeout | undefined;
  #lastCall = 0;
  #isRetired = false;

  constructor(options: ProcessOptions) {
    const heapMb = Math.ceil(options.memoryBytes / (1 << 20));
    const limitBytes = options.memoryBytes * 1.5;
    this.#options = options;
    this.#child = fork(ENTRY, [String(limitBytes)], {
      execArgv: [`--max-old-space-size=${heapMb}`, "--disable-warning=ExperimentalWarning"],
      serialization: "advanced",
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    this.#ending = new Ending(this.#child, limitBytes, options.log);
    void this.#ending.over.then(() => this.#ended());
    this.#child.on("message", (message) => this.#hear(message));
    for (const stream of [this.#child.stdout, this.#child.stderr]) if (stream instanceof Socket) stream.unref();
    this.#settle();
  }

  get isOver(): boolean {
    return this.#ending.isOver;
  }

  /** Resolves when the process has ended. */
  get over(): Promise<void> {
    return this.#ending.over;
  }

  get hasCalls(): boolean {
    return this.#calls.size > 0;
  }

  get isIdle(): boolean {
    return !this.hasCalls && this.#loads.length === 0;
  }

  /** Imports a module, after those that were asked for before. Rejects with a `ModuleFailure` or `ProcessGone`. */
  load(order: LoadOrder, timeoutMs: number): Promise<Loaded> {
    const loaded = new Promise<LoadEnd>((end) => {
      this.#loads.push({ order, timeoutMs, end, isSent: false });
      this.#settle();
      if (this.#isReady || this.isOver) this.#sendLoads();
    }).then((end) => this.#loadedOf(end));
    const replace = (): unknown => this.#imports.set(order.module, loaded);
    loaded.then(replace, () => undefined);
    // Until a new version is there, and if it never is, calls go to the one before.
    if (!this.#imports.has(order.module)) replace();
    return loaded;
  }

  /** Settles as the last import of a module did; `undefined` for a module that was never asked for. */
  imported(module: string): Promise<Loaded> | undefined {
    return this.#imports.get(module);
  }

  unload(module: string): void {
    this.#imports.delete(module);
    this.#send({ kind: "unload", module });
  }

  invoke(request: CallRequest, context: CallContext): Promise<CallEnd> {
    const { path } = request;
    const { signal } = context;
    if (signal.aborted) return Promise.resolve({ kind: "error", error: callCancelled(path, signal) });
    const call = ++this.#lastCall;
    return new Promise((resolve) => {
      const cancel = (): void => this.#cancel(call);
      const late = setTimeout(() => setImmediate(() => this.#late(call)), START_MS + START_MARGIN_MS);
      const end = (how: CallEnd): void => {
        clearTimeout(late);
        signal.removeEventListener("abort", cancel);
        this.#calls.delete(call);
        resolve(how);
        this.#settle();
      };
      signal.addEventListener("abort", cancel, { once: true });
      this.#calls.set(call, { path, context, end, hasBegun: false });
      this.#settle();
      this.#begin(call, request, context, end);
    });
  }

  #begin(call: number, request: CallRequest, context: CallContext, end: (end: CallEnd) => void): void {
    const { caller, runId, callId, settings, secrets } = context;
    const facts = { caller: { ...caller }, runId, callId, settings, secrets };
    try {
      this.#send({ kind: "invoke", call, ...request, context: facts, startBy: nowMs() + START_MS });
      if (this.isOver) end({ kind: "moved" });
    } catch (error) {
      end({ kind: "error", error: callFailed(request.path, `was given what is no plain data: ${messageOf(error)}`) });
    }
  }

  /** Takes no more calls; ends when those under way have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#settle();
  }

  close(): void {
    for (const { path, end } of this.#calls.values()) end({ kind: "error", error: runtimeClosed(path) });
    this.retire();
    // An idle process lets the program end without it; one that is closed is waited for.
    this.#child.ref();
  }

  /** A few ahead, so that the process need not wait for us between them. */
  #sendLoads(): void {
    if (this.isOver) return this.#endLoads();
    for (const load of this.#loads.slice(0, LOADS_AHEAD)) {
      if (!load.isSent) this.#send(load.order);
      load.isSent = true;
    }
    const [first] = this.#loads;
    if (first === this.#underWay) return;
    this.#underWay = first;
    clearTimeout(this.#limit);
    if (first === undefined) return;
    const why = `it did not come to an end within ${first.timeoutMs / 1_000} s`;
    this.#limit = setTimeout(() => this.#ending.stop(why), first.timeoutMs);
  }

  #endLoad(end: LoadEnd): void {
    this.#loads.shift()?.end(end);
    this.#sendLoads();
    this.#settle();
  }

  /** The process is over: the import that was under way may be the reason, the others are not. */
  #endLoads(): void {
    clearTimeout(this.#limit);
    const wasAlone = this.#isReady && !this.hasCalls;
    for (const [index, { end, isSent }] of this.#loads.splice(0).entries()) {
      const isReason = index === 0 && isSent;
      end({
        kind: "ended",
        reason: isReason ? (wasAlone ? "itself" : "unknown") : this.#isReady ? "another" : "unknown",
      });
    }
  }

  #loadedOf(end: LoadEnd): Loaded {
    switch (end.kind) {
      case "loaded":
        return end;
      case "failed":
        throw new ModuleFailure(end.failure);
      case "ended":
        if (end.reason === "itself") throw new ModuleFailure(`at import, ${this.#ending.why}`);
        throw new ProcessGone(this.#ending.why, end.reason === "another");
    }
  }

  #send(order: Order): void {
    // Without a channel the end of the process is on its way, and says the rest.
    if (this.#child.connected) this.#child.send(order, () => undefined);
  }

  #hear(message: unknown): void {
    const report = parseReport(message);
    if (report === undefined) return;
    if ("call" in report) return this.#hearOfCall(report);
    switch (report.kind) {
      case "ready":
        this.#isReady = true;
        return this.#sendLoads();
      case "loaded":
      case "failed":
        return this.#endLoad(report);
      case "stray": {
        const { stack, message } = report.failure;
        return this.#options.log("error", `A skill failed outside of any call: ${stack || message}`);
      }
    }
  }

  #hearOfCall(report: Extract<Report, { readonly call: number }>): void {
    const call = this.#calls.get(report.call);
    switch (report.kind) {
      case "started":
        if (call !== undefined) call.hasBegun = true;
        break;
      case "late":
        call?.end({ kind: "moved" });
        break;
      case "cancelled":
        clearTimeout(this.#silent.get(report.call));
        this.#silent.delete(report.call);
        break;
      case "result":
        call?.end({ kind: "value", value: report.value });
        break;
      case "error":
        call?.end({ kind: "error", error: errorOfCall(call.path, report, this.#options.root) });
        break;
      case "log":
        call?.context.log(report.level, report.text);
        break;
      case "progress":
        call?.context.progress(report.done, report.total, report.text);
        break;
      case "store":
        void answerOfStore(report.request, call?.context).then((answer) =>
          this.#send({ kind: "stored", ask: report.ask, ...answer }),
        );
        break;
    }
  }

  #late(number: number): void {
    const call = this.#calls.get(number);
    if (call?.hasBegun === false && this.#options.onBlocked()) call.end({ kind: "moved" });
  }

  /** The call is over for its caller. If the process does not even hear of it, something in it never gives back control. */
  #cancel(number: number): void {
    const call = this.#calls.get(number);
    if (call === undefined) return;
    call.end({ kind: "error", error: callCancelled(call.path, call.context.signal) });
    this.#send({ kind: "cancel", call: number });
    if (!call.hasBegun) return;
    const beside = [...this.#calls.values()].some(({ hasBegun }) => hasBegun);
    const stop = (): void => this.#ending.stop("the process of the skills no longer answered");
    this.#silent.set(number, setTimeout(stop, beside ? SILENCE_MS.beside : SILENCE_MS.alone));
  }

  #ended(): void {
    this.#endLoads();
    for (const limit of this.#silent.values()) clearTimeout(limit);
    for (const { path, hasBegun, end } of this.#calls.values()) {
      end(
        hasBegun
          ? { kind: "error", error: callFailed(path, `did not finish: ${this.#ending.why}`) }
          : { kind: "moved" },
      );
    }
    this.#options.onEnd();
  }

  /** Keeps the program alive only while something is under way; lets a retired process go when nothing is. */
  #settle(): void {
    for (const handle of [this.#child, this.#child.channel]) {
      if (this.isIdle) handle?.unref();
      else handle?.ref();
    }
    if (!this.#isRetired || !this.isIdle || this.isOver) return;
    if (this.#child.connected) this.#child.disconnect();
    setTimeout(() => this.#ending.stop("it is no longer needed"), FAREWELL_MS).unref();
  }
}
