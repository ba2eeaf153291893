import { type AnswerCall, Cancellation, type SandboxAnswer, type SandboxCall } from "../../../sandbox/index.ts";
import { truncateText } from "../../shared/format-text.ts";
import { type Cassette, restoreAnswer, type StoredCall, toRecordedArguments } from "../../runs/index.ts";

/** Answers the calls of a program from what is recorded, and notices the first call that differs. */
export class ReplayedCalls {
  readonly cancellation = new Cancellation();
  /** The calls that the program has made, by number. */
  readonly repeated = new Map<number, StoredCall>();
  readonly #cassette: Cassette;
  readonly #calls: ReadonlyMap<number, StoredCall>;
  readonly #delivered: ReadonlySet<number>;
  /** False for a program that was interrupted: then a later call is no difference. */
  readonly #isWhole: boolean;
  #difference: string | undefined;
  #differenceSite: string | undefined;

  constructor(cassette: Cassette, { isWhole }: { readonly isWhole: boolean }) {
    this.#cassette = cassette;
    this.#calls = new Map(cassette.calls.map((call) => [call.id, call]));
    this.#delivered = new Set(cassette.deliveries.flatMap(({ ids }) => ids));
    this.#isWhole = isWhole;
  }

  /** The first difference, in words. */
  get difference(): string | undefined {
    return this.#difference;
  }

  /** The place of the first call that differs, in the code of the program. */
  get differenceSite(): string | undefined {
    return this.#differenceSite;
  }

  /** True if the answer of a call has reached the program. */
  isDelivered(id: number): boolean {
    return this.#delivered.has(id);
  }

  /** Names the first recorded call that the program has not made, though an answer of it was delivered. */
  describeMissingCall(): string {
    const ids = this.#cassette.deliveries.flatMap((delivery) => delivery.ids);
    const missing = ids.flatMap((id) => (this.repeated.has(id) ? [] : (this.#calls.get(id) ?? [])))[0];
    return missing === undefined
      ? "the program does not wait for the recorded timers"
      : `the program does not make the recorded ${describeCall(missing)}`;
  }

  readonly answer: AnswerCall = async (call) => {
    const found = this.#calls.get(call.id);
    const args = toRecordedArguments(call.arguments);
    const sentence = `the program makes the ${describeCall({ id: call.id, path: call.path, args })}`;
    if (found === undefined) {
      if (this.#isWhole) this.#noteDifference(call, `${sentence}, which is not recorded`);
      return this.stop();
    }
    if (found.path !== call.path || found.args !== args) {
      this.#noteDifference(call, `${sentence}; recorded is ${describeCall(found)}`);
      return this.stop();
    }
    this.repeated.set(call.id, found);
    if (found.answer === undefined || !this.#delivered.has(call.id)) return waitForever(call);
    return restoreAnswer(found.path, found.answer, this.#cassette.header);
  };

  #noteDifference({ site }: SandboxCall, difference: string): void {
    if (this.#difference !== undefined) return;
    this.#difference = difference;
    this.#differenceSite = site;
  }

  /** Ends the program where the record ends. */
  readonly stop = (): SandboxAnswer => {
    this.cancellation.cancel();
    return { ok: false, error: { name: "CallError", code: "CALL_CANCELLED", message: "" } };
  };
}

/** The program is suspended when it only waits for calls without an answer. */
function waitForever(call: SandboxCall): Promise<SandboxAnswer> {
  call.hold({ suspendable: true });
  return new Promise(() => {});
}

const MAX_SHOWN_ARGUMENTS = 200;

function describeCall({ id, path, args }: Pick<StoredCall, "id" | "path" | "args">): string {
  return `call ${id} of ${path} with the arguments ${truncateText(args, MAX_SHOWN_ARGUMENTS)}`;
}
