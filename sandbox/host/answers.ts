import type { Delivery } from "../contract.ts";

/** Answers that reach the guest together. */
export interface AnswerBatch {
  /** JSON of `[id, ok, value, …]`. */
  readonly answers: string;
  /** Time of the guest's clock from then on, in milliseconds since 1970; missing if its clock runs by itself. */
  readonly time: number | undefined;
}

/** The answers and timers that have arrived and that the guest has not received. */
export class AnswerQueue {
  /** JSON of `id, ok, value` of each. */
  #answers: string[] = [];
  #length = 0;

  /** Number of characters. */
  get length(): number {
    return this.#length;
  }

  /** True if the guest may receive answers now. */
  get isReady(): boolean {
    return this.#answers.length > 0;
  }

  /** Adds JSON of `id, ok, value`. Returns true if the queue is ready because of it. */
  add(_id: number, answer: string): boolean {
    this.#length += answer.length;
    return this.#answers.push(answer) === 1;
  }

  /** Takes all answers. */
  take(): AnswerBatch {
    return { answers: this.takeAll(), time: undefined };
  }

  protected takeAll(): string {
    const answers = `[${this.#answers.join(",")}]`;
    this.clear();
    return answers;
  }

  clear(): void {
    this.#answers = [];
    this.#length = 0;
  }
}

/**
 * Repeats the deliveries of an earlier execution, then records each new one. Answers that arrive before the turn of their
 * delivery are held.
 */
export class RecordedAnswers extends AnswerQueue {
  #deliveries: readonly Delivery[];
  readonly #recordsRepeated: boolean;
  readonly #record: (delivery: Delivery) => void;
  /** Ids in deliveries that were not repeated yet. */
  readonly #expected: Set<number>;
  /** Ids among them that the guest has called. */
  readonly #called = new Set<number>();
  /** Answers whose turn has not come, by the id of their call. */
  readonly #early = new Map<number, string>();
  #earlyLength = 0;
  #ids: number[] = [];
  #repeated = 0;
  #time: number;

  /**
   * `time` is the guest's clock at its start. `record` receives each new delivery before it is taken; with `recordsRepeated` the
   * repeated ones as well.
   */
  constructor(
    {
      deliveries = [],
      recordsRepeated,
    }: { readonly deliveries?: readonly Delivery[]; readonly recordsRepeated: boolean },
    time: number,
    record: (delivery: Delivery) => void,
  ) {
    super();
    this.#deliveries = deliveries;
    this.#recordsRepeated = recordsRepeated;
    this.#time = time;
    this.#record = record;
    this.#expected = new Set(deliveries.flatMap(({ ids }) => ids));
  }

  /** Time of the guest's clock after the last delivery. */
  get time(): number {
    return this.#time;
  }

  /** True while deliveries are left to repeat. */
  get isReplaying(): boolean {
    return this.#repeated < this.#deliveries.length;
  }

  override get isReady(): boolean {
    const next = this.#deliveries[this.#repeated];
    return next === undefined ? super.isReady : next.ids.every((id) => this.#early.has(id));
  }

  override get length(): number {
    return super.length + this.#earlyLength;
  }

  get hasEarly(): boolean {
    return this.#early.size > 0;
  }

  /** Tests whether a delivery that is left contains a call or timer. */
  expects(id: number): boolean {
    return this.#expected.has(id);
  }

  /** Drops the deliveries that are left. Early answers become new ones, except those of the given timers. */
  dropDeliveries(timers: ReadonlySet<number>): void {
    this.#deliveries = this.#deliveries.slice(0, this.#repeated);
    for (const id of this.#early.keys()) {
      const answer = this.#release(id);
      if (!timers.has(id)) this.add(id, answer);
    }
    this.#expected.clear();
  }

  /** Marks an expected call or timer as made by the guest. */
  markCalled(id: number): void {
    this.#called.add(id);
  }

  /** True if the next delivery can never be repeated: a guest that stands still has not made all of its calls. */
  get isDiverged(): boolean {
    return this.#deliveries[this.#repeated]?.ids.some((id) => !this.#called.has(id)) === true;
  }

  override add(id: number, answer: string): boolean {
    if (!this.isReplaying) {
      this.#ids.push(id);
      return super.add(id, answer);
    }
    this.#early.set(id, answer);
    this.#earlyLength += answer.length;
    return this.isReady;
  }

  override take(): AnswerBatch {
    const next = this.#deliveries[this.#repeated];
    if (next !== undefined) return this.#repeat(next);
    this.#time = Math.max(this.#time, Date.now());
    this.#record({ ids: this.#ids, time: this.#time });
    return { answers: this.takeAll(), time: this.#time };
  }

  override clear(): void {
    super.clear();
    this.#ids = [];
  }

  #repeat({ ids, time }: Delivery): AnswerBatch {
    const answers = ids.map((id) => this.#release(id));
    this.#repeated++;
    this.#time = Math.max(this.#time, time);
    if (this.#recordsRepeated) this.#record({ ids, time });
    if (!this.isReplaying) for (const id of this.#early.keys()) this.add(id, this.#release(id));
    return { answers: `[${answers.join(",")}]`, time: this.#time };
  }

  #release(id: number): string {
    const answer = this.#early.get(id) ?? "";
    this.#early.delete(id);
    this.#expected.delete(id);
    this.#earlyLength -= answer.length;
    return answer;
  }
}
