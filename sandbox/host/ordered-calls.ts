import { getOpenBytes, type GuestCall, isQuestion } from "../shared/protocol.ts";

/**
 * Queues calls that the program does not await. The program may rely on their order, so each is made after those before it
 * have ended; read-only calls run together.
 */
export class OrderedCalls {
  readonly #readOnly: ReadonlySet<string>;
  readonly #make: (call: GuestCall) => Promise<void>;
  readonly #waiting: GuestCall[] = [];
  #readsUnderWay = 0;
  #isWriteUnderWay = false;

  /** `make` resolves when the call has ended. */
  constructor(readOnly: readonly string[], make: (call: GuestCall) => Promise<void>) {
    this.#readOnly = new Set(readOnly);
    this.#make = make;
  }

  /** Bytes that the calls hold which are not made yet. */
  get openBytes(): number {
    return this.#waiting.reduce((sum, call) => sum + getOpenBytes(call.arguments), 0);
  }

  add(call: GuestCall): void {
    this.#waiting.push(call);
    this.#advance();
  }

  /** Makes all queued calls at once: the program now waits for everything, so the order no longer matters. */
  flush(): void {
    for (const call of this.#waiting.splice(0)) void this.#make(call);
  }

  #advance(): void {
    for (let next = this.#waiting[0]; next !== undefined && !this.#isWriteUnderWay; next = this.#waiting[0]) {
      const isRead = isQuestion(next.path) || this.#readOnly.has(next.path);
      if (!isRead && this.#readsUnderWay > 0) return;
      this.#waiting.shift();
      void this.#start(next, isRead);
    }
  }

  async #start(call: GuestCall, isRead: boolean): Promise<void> {
    if (isRead) this.#readsUnderWay++;
    else this.#isWriteUnderWay = true;
    await this.#make(call);
    if (isRead) this.#readsUnderWay--;
    else this.#isWriteUnderWay = false;
    this.#advance();
  }
}
