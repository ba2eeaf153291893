import { findPackageFile } from "../../../../../sandbox/package-files.ts";
import { createError, getMessage, SkillgateError } from "../../../../errors.ts";
import { deleteOldest } from "../../../../shared/lru.ts";
import { type OrderFailure, OrderThread, StartBudget } from "../../../../shared/threads/order-thread.ts";
import type { CheckAnswer, CheckOrder } from "./protocol.ts";

/** A limit of texts, times and memory, which tests lower. */
export interface CheckLimits {
  /** Milliseconds in which the thread loads; the package takes a tenth of a second. */
  readonly startMs: number;
  /** Milliseconds of one check. */
  readonly checkMs: number;
  /** Milliseconds of one check that loads its schema first. */
  readonly loadMs: number;
  /** Milliseconds without a check after which the thread ends. */
  readonly idleMs: number;
  /** How often the texts of one API may end the thread within five minutes, and how often it may fail to start. */
  readonly maxEnds: number;
  /** UTF-16 units of the texts and variables that wait. */
  readonly waitingUnits: number;
  /** Schemas that the thread has at most, and the UTF-16 units of their texts; one may be larger. */
  readonly schemas: number;
  readonly schemaUnits: number;
}

const LIMITS: CheckLimits = {
  startMs: 60_000,
  checkMs: 2_000,
  loadMs: 20_000,
  idleMs: 60_000,
  maxEnds: 10,
  waitingUnits: 16 << 20,
  schemas: 16,
  schemaUnits: 8 << 20,
};

const ENDS_WITHIN_MS = 5 * 60_000;

/** Memory of the thread: a schema takes about twenty bytes for each unit of its text. */
const MEMORY = { stackSizeMb: 8, maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 };

/** A schema that the thread loads when a text of it is checked. */
export interface SchemaSource {
  readonly number: number;
  /** Names its API in errors: `tracker`. */
  readonly name: string;
  /** Returns the text of the schema. */
  readonly read: () => string;
}

type TextOrder = Omit<CheckOrder, "schema" | "sdl" | "remove">;
type Checked = Extract<CheckAnswer, { readonly kind: "checked" }>;

interface WaitingCheck {
  readonly source: SchemaSource;
  readonly order: TextOrder;
  readonly resolve: (answer: Checked) => void;
  readonly reject: (error: SkillgateError) => void;
}

/**
 * Checks texts in one thread, one at a time and in their order. It starts with the first text, ends when it is idle, and is
 * replaced if a check takes too long or too much memory: that text is refused, and the others are checked by the next thread. An API
 * whose texts end the thread again and again is refused alone.
 */
export class CheckThreads {
  readonly #limits: CheckLimits;
  /** The ends of threads that had no order. */
  readonly #failedStarts: StartBudget;
  /** The ends of threads by the APIs whose texts have ended them. */
  readonly #ends = new WeakMap<SchemaSource, StartBudget>();
  readonly #waiting = new Set<WaitingCheck>();
  /** The schemas of the thread, with the lengths of their texts, the one that was used last at the end. */
  readonly #schemas = new Map<number, number>();
  #units = 0;
  #thread: OrderThread<CheckOrder, CheckAnswer> | undefined;
  /** The schema of the last order to the thread. */
  #last: SchemaSource | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: Partial<CheckLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#failedStarts = this.#createBudget();
  }

  /** True while a thread is there. */
  get isRunning(): boolean {
    return this.#thread !== undefined;
  }

  /** Rejects with `QUERY_UNCHECKED`, or with the error of reading the schema. */
  check(source: SchemaSource, order: TextOrder): Promise<Checked> {
    const units = getUnits(order);
    if (this.#units + units > this.#limits.waitingUnits) return Promise.reject(createFailure("too many texts wait"));
    const refusal = this.#findRefusal(source);
    if (refusal !== undefined) return Promise.reject(refusal);
    return new Promise((resolve, reject) => {
      this.#waiting.add({ source, order, resolve, reject });
      this.#units += units;
      this.#next();
    });
  }

  /** Removes a schema with the checks of it that wait. */
  remove(source: SchemaSource): void {
    this.#rejectWaiting(createFailure("its API is closed"), source);
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#rejectWaiting(createFailure("its API is closed"));
    const thread = this.#thread;
    this.#forgetThread();
    await thread?.close();
  }

  /** Rejects the checks that wait, or those of one schema. */
  #rejectWaiting(error: SkillgateError, source?: SchemaSource): void {
    for (const each of this.#waiting) {
      if (source !== undefined && each.source !== source) continue;
      this.#take(each);
      each.reject(error);
    }
  }

  #take(check: WaitingCheck): void {
    this.#waiting.delete(check);
    this.#units -= getUnits(check.order);
  }

  #next(): void {
    const thread = this.#open();
    if (thread?.state !== "idle") return thread?.hold();
    clearTimeout(this.#idle);
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#idle = setTimeout(() => this.#sleep(), this.#limits.idleMs).unref();
      return;
    }
    this.#take(first);
    this.#ask(first, thread);
  }

  #ask(check: WaitingCheck, thread: OrderThread<CheckOrder, CheckAnswer>): void {
    let order: CheckOrder;
    try {
      order = this.#createOrder(check);
    } catch (error) {
      check.reject(error instanceof SkillgateError ? error : createFailure(getMessage(error)));
      return this.#next();
    }
    const { checkMs, loadMs } = this.#limits;
    const limitMs = order.sdl === undefined ? checkMs : loadMs;
    this.#last = check.source;
    thread.ask(order, limitMs, (answer) => this.#settle(check, answer, limitMs));
    thread.hold();
  }

  #settle({ source, resolve, reject }: WaitingCheck, answer: CheckAnswer | OrderFailure, limitMs: number): void {
    if (typeof answer === "string") return reject(createFailure(describeFailure(answer, limitMs)));
    if (answer.kind === "checked") return resolve(answer);
    if (!answer.hasSchema) this.#schemas.delete(source.number);
    reject(createFailure(answer.error));
  }

  /** Adds the schema where the thread does not have it, and removes those that it has too many. */
  #createOrder({ source, order }: WaitingCheck): CheckOrder {
    const before = this.#schemas.get(source.number);
    const sdl = before === undefined ? source.read() : undefined;
    this.#schemas.delete(source.number);
    this.#schemas.set(source.number, sdl?.length ?? before ?? 0);
    const { schemas, schemaUnits } = this.#limits;
    const isTooFull = (): boolean =>
      this.#schemas.size > schemas ||
      (this.#schemas.size > 1 && [...this.#schemas.values()].reduce((sum, units) => sum + units, 0) > schemaUnits);
    const remove: number[] = [];
    deleteOldest(this.#schemas, isTooFull, (oldest) => {
      this.#schemas.delete(oldest);
      remove.push(oldest);
    });
    return { ...order, schema: source.number, remove, ...(sdl !== undefined && { sdl }) };
  }

  #open(): OrderThread<CheckOrder, CheckAnswer> | undefined {
    if (this.#thread !== undefined || this.#waiting.size === 0) return this.#thread;
    const waitMs = this.#failedStarts.getWaitMs();
    if (waitMs > 0) {
      const often = `could not start ${this.#limits.maxEnds} times`;
      this.#rejectWaiting(
        createFailure(`the thread that checks texts ${often}; it starts again ${formatWait(waitMs)}`),
      );
      return undefined;
    }
    this.#thread = new OrderThread(
      { entry: findEntry(), name: "skillgate-graphql", startMs: this.#limits.startMs, limits: MEMORY },
      {
        idle: () => this.#next(),
        over: () => {
          this.#countEnd();
          this.#forgetThread();
          this.#next();
        },
      },
    );
    return this.#thread;
  }

  /** Counts an end of the thread for the API whose text it checked last. */
  #countEnd(): void {
    const source = this.#last;
    if (source === undefined) return void this.#failedStarts.take();
    const ends = this.#ends.get(source) ?? this.#createBudget();
    this.#ends.set(source, ends);
    ends.take();
    const refusal = this.#findRefusal(source);
    if (refusal !== undefined) this.#rejectWaiting(refusal, source);
  }

  /** Returns the error for an API whose texts have ended the thread too often. */
  #findRefusal(source: SchemaSource): SkillgateError | undefined {
    const waitMs = this.#ends.get(source)?.getWaitMs() ?? 0;
    if (waitMs <= 0) return undefined;
    const often = `texts of the source "${source.name}" have ended the thread that checks them ${this.#limits.maxEnds} times`;
    return createFailure(`${often}; they are checked again ${formatWait(waitMs)}`);
  }

  #createBudget(): StartBudget {
    return new StartBudget(this.#limits.maxEnds, ENDS_WITHIN_MS);
  }

  #forgetThread(): void {
    this.#thread = undefined;
    this.#last = undefined;
    this.#schemas.clear();
  }

  #sleep(): void {
    void this.#thread?.close();
    this.#forgetThread();
  }
}

/** Threads start from compiled files, also when this file itself runs from its source. */
function findEntry(): URL {
  return findPackageFile(
    "src/providers/sources/graphql/check/worker.js",
    () => new URL("./worker.js", import.meta.url),
  );
}

function getUnits({ text, variables }: TextOrder): number {
  return text.length + (variables?.json.length ?? 0);
}

function describeFailure(why: OrderFailure, limitMs: number): string {
  if (why === "closed") return "its API is closed";
  return why === "late" ? `it takes more than ${limitMs} ms` : "the thread that checks it has ended";
}

function formatWait(waitMs: number): string {
  const minutes = Math.ceil(waitMs / 60_000);
  return `in ${minutes} minute${minutes === 1 ? "" : "s"}`;
}

function createFailure(values: string): SkillgateError {
  return createError("QUERY_UNCHECKED", values);
}
