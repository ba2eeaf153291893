import type { Print } from "../shared/protocol.ts";

/** The texts that a run has printed, within its limit. */
export class RunOutput {
  readonly #maxBytes: number;
  readonly #print: (text: string) => void;
  readonly #prints: Print[] = [];
  #left: number;
  #isCut = false;
  #passedOn = 0;
  /** Texts that an earlier execution has passed on. */
  #repeated: number;

  /** `print` receives each text, except for the first `repeated` ones. */
  constructor(maxBytes: number, print: (text: string) => void, repeated: number) {
    this.#maxBytes = maxBytes;
    this.#left = maxBytes;
    this.#print = print;
    this.#repeated = repeated;
  }

  /** Bytes that the run may still print. */
  get left(): number {
    return this.#left;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  /** Number of texts that were passed on, those of an earlier execution included. */
  get passedOn(): number {
    return this.#passedOn;
  }

  add(prints: readonly Print[]): void {
    for (const print of prints) {
      this.#prints.push(print);
      this.#left -= Buffer.byteLength(print.text) + 1;
      if (this.#left >= 0) this.#passOn(print.text);
    }
    if (this.#left < 0) this.#isCut = true;
  }

  /** A throwing listener must not end the run; its error is rethrown as uncaught. */
  #passOn(text: string): void {
    this.#passedOn++;
    if (this.#repeated > 0) {
      this.#repeated--;
      return;
    }
    try {
      this.#print(text);
    } catch (error) {
      process.nextTick(() => {
        throw error;
      });
    }
  }

  /** All texts in their order, one a line. */
  format(): string {
    const text = this.#prints
      .sort((a, b) => a.slot - b.slot)
      .map((print) => print.text)
      .join("\n");
    return this.#isCut ? Buffer.from(text).subarray(0, this.#maxBytes).toString().replace(/�$/, "") : text;
  }
}
