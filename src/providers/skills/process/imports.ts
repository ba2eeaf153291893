import type { Loaded, LoadOrder, Report } from "./messages.ts";
import type { Line } from "./skill-process.ts";
import { ModuleFailure, ProcessGone } from "./skill-errors.ts";

/** How many imports are ordered before the first of them is over: the process need not wait for us between them. */
const AHEAD = 16;

interface Import {
  readonly order: LoadOrder;
  readonly timeoutMs: number;
  readonly end: (end: End) => void;
  isSent: boolean;
}

type End = ImportReport | { readonly kind: "gone"; readonly why: string; readonly reason: Reason };
type ImportReport = Extract<Report, { kind: "loaded" | "failed" }>;
/** Whether the process ended because of this import. */
type Reason = "itself" | "another" | "unknown";

/** The modules that one process has imported or is to import, one after the other. */
export class Imports {
  readonly #line: Line;
  /** By module, what became of the last import that counts. */
  readonly #all = new Map<string, Promise<Loaded>>();
  /** The first is under way; those after it that were sent wait for it in the process. */
  readonly #queue: Import[] = [];
  /** The first of them, as far as its time is running. */
  #underWay: Import | undefined;
  #limit: NodeJS.Timeout | undefined;
  #isReady = false;

  constructor(line: Line) {
    this.#line = line;
  }

  get isIdle(): boolean {
    return this.#queue.length === 0;
  }

  /** Imports a module, after those that were asked for before. Rejects with a `ModuleFailure` or `ProcessGone`. */
  load(order: LoadOrder, timeoutMs: number): Promise<Loaded> {
    const loaded = new Promise<End>((end) => {
      this.#queue.push({ order, timeoutMs, end, isSent: false });
      if (this.#isReady) this.#sendMore();
    }).then(loadedOf);
    const replace = (): unknown => this.#all.set(order.module, loaded);
    loaded.then(replace, () => undefined);
    // Until a new version is there, and if it never is, calls go to the one before.
    if (!this.#all.has(order.module)) replace();
    return loaded;
  }

  /** Settles as the last import of a module did; `undefined` for a module that was never asked for. */
  of(module: string): Promise<Loaded> | undefined {
    return this.#all.get(module);
  }

  forget(module: string): void {
    this.#all.delete(module);
    this.#line.send({ kind: "unload", module });
  }

  /** The process has started. */
  begin(): void {
    this.#isReady = true;
    this.#sendMore();
  }

  hear(report: ImportReport): void {
    this.#queue.shift()?.end(report);
    this.#sendMore();
  }

  /** The process is over. The import that was under way is the reason if there were no calls beside it; the others are not. */
  close(why: string, hadCalls: boolean): void {
    clearTimeout(this.#limit);
    for (const [index, { end, isSent }] of this.#queue.splice(0).entries()) {
      const isFirst = index === 0 && isSent;
      const reason = !this.#isReady || (isFirst && hadCalls) ? "unknown" : isFirst ? "itself" : "another";
      end({ kind: "gone", why, reason });
    }
  }

  #sendMore(): void {
    for (const each of this.#queue.slice(0, AHEAD)) {
      if (!each.isSent) this.#line.send(each.order);
      each.isSent = true;
    }
    const [first] = this.#queue;
    if (first === this.#underWay) return;
    this.#underWay = first;
    clearTimeout(this.#limit);
    if (first === undefined) return;
    const why = `it did not come to an end within ${first.timeoutMs / 1_000} s`;
    this.#limit = setTimeout(() => this.#line.stop(why), first.timeoutMs);
  }
}

function loadedOf(end: End): Loaded {
  switch (end.kind) {
    case "loaded":
      return end;
    case "failed":
      throw new ModuleFailure(end.failure);
    case "gone":
      if (end.reason === "itself") throw new ModuleFailure(`at import, ${end.why}`);
      throw new ProcessGone(end.why, end.reason === "another");
  }
}
