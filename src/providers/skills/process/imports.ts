import type { Loaded, LoadRequest, Response } from "./messages.ts";
import type { ProcessEvents } from "./skill-process.ts";
import { ModuleFailure, ProcessGone } from "./skill-errors.ts";

/** Imports sent ahead of the first one's end, so that the process does not wait between them. */
const AHEAD = 16;

/** After this time of an import, the log says what is waited for. */
const SLOW_MS = 1_000;

/** Time limits of an import, in milliseconds. */
export interface ImportLimits {
  readonly timeoutMs: number;
  /** The limit while the process runs no call, which the end of the process would end too. */
  readonly idleTimeoutMs: number;
}

interface ModuleImport extends ImportLimits {
  readonly request: LoadRequest;
  readonly end: (end: ImportEnd) => void;
  isSent: boolean;
}

type ImportEnd =
  | ImportReport
  | { readonly kind: "gone"; readonly why: string; readonly reason: Reason; readonly isTimeout: boolean };
type ImportReport = Extract<Response, { kind: "loaded" | "failed" }>;
/** The import that ended the process. */
type Reason = "itself" | "another" | "unknown";

/** The modules that one process imports, one after the other. */
export class Imports {
  readonly #line: ProcessEvents;
  /** The import in use, by module. */
  readonly #all = new Map<string, Promise<Loaded>>();
  /** The first import is running; later ones that were sent wait in the process. */
  readonly #queue: ModuleImport[] = [];
  /** The first import, once its time limit runs. */
  #underWay: ModuleImport | undefined;
  #limit: NodeJS.Timeout | undefined;
  #notice: NodeJS.Timeout | undefined;
  #isTimeout = false;
  #isReady = false;

  constructor(line: ProcessEvents) {
    this.#line = line;
  }

  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  /** Imports a module after those requested earlier. Rejects with a `ModuleFailure` or `ProcessGone`. */
  load(request: LoadRequest, limits: ImportLimits): Promise<Loaded> {
    const loaded = new Promise<ImportEnd>((end) => {
      this.#queue.push({ request, ...limits, end, isSent: false });
      if (this.#isReady) this.#sendMore();
    }).then(requireLoaded);
    const replace = (): unknown => this.#all.set(request.module, loaded);
    loaded.then(replace, () => undefined);
    // Calls use the previous version until the new one is imported.
    if (!this.#all.has(request.module)) replace();
    return loaded;
  }

  /** Settles like the last import of a module; `undefined` if the module was never requested. */
  of(module: string): Promise<Loaded> | undefined {
    return this.#all.get(module);
  }

  forget(module: string): void {
    this.#all.delete(module);
    this.#line.send({ kind: "unload", module });
  }

  /** Sends the queued imports once the process has started. */
  begin(): void {
    this.#isReady = true;
    this.#sendMore();
  }

  onReport(response: ImportReport): void {
    this.#queue.shift()?.end(response);
    this.#sendMore();
  }

  /** Ends all imports after the exit of the process. The running import is the cause if no calls were pending. */
  close(why: string, hadCalls: boolean): void {
    this.#clearTimers();
    for (const [index, { end, isSent }] of this.#queue.splice(0).entries()) {
      const isFirst = index === 0 && isSent;
      const reason = !this.#isReady || (isFirst && hadCalls) ? "unknown" : isFirst ? "itself" : "another";
      end({ kind: "gone", why, reason, isTimeout: this.#isTimeout });
    }
  }

  #sendMore(): void {
    for (const each of this.#queue.slice(0, AHEAD)) {
      if (!each.isSent) this.#line.send(each.request);
      each.isSent = true;
    }
    const [first] = this.#queue;
    if (first === this.#underWay) return;
    this.#underWay = first;
    this.#clearTimers();
    if (first === undefined || first.timeoutMs === Infinity) return;
    const { request, timeoutMs, idleTimeoutMs } = first;
    this.#notice = setTimeout(() => this.#line.reportSlow(request.module, idleTimeoutMs), SLOW_MS).unref();
    const stop = (limitMs: number): void => {
      this.#isTimeout = true;
      this.#line.stop(`it did not finish within ${limitMs / 1_000} s`);
    };
    this.#limit = setTimeout(() => {
      if (idleTimeoutMs >= timeoutMs || !this.#line.hasCalls()) return stop(idleTimeoutMs);
      this.#limit = setTimeout(() => stop(timeoutMs), timeoutMs - idleTimeoutMs);
    }, idleTimeoutMs);
  }

  #clearTimers(): void {
    clearTimeout(this.#limit);
    clearTimeout(this.#notice);
  }
}

function requireLoaded(end: ImportEnd): Loaded {
  switch (end.kind) {
    case "loaded":
      return end;
    case "failed":
      throw new ModuleFailure(end.failure);
    case "gone":
      if (end.reason === "itself") throw new ModuleFailure(`at import, ${end.why}`, end.isTimeout);
      throw new ProcessGone(end.why, end.reason === "another");
  }
}
