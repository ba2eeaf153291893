import { cutStack } from "../engine/error-messages.ts";
import { Cancellation } from "./cancellation.ts";
import type { RunBudget, SandboxCall } from "../contract.ts";
import { type DecodedValue, decode, toJson } from "../codec/guest-value.ts";
import type { GuestCall } from "../shared/protocol.ts";
import type { WallClock } from "./wall-clock.ts";

interface PendingCallListener {
  /** Called whenever the call becomes suspendable. */
  readonly suspendable: () => void;
  readonly readBudget: () => RunBudget;
}

/** A call that has no answer yet. */
export class PendingCall extends Cancellation implements SandboxCall {
  readonly call: GuestCall;
  readonly replayed: boolean;
  readonly #clock: WallClock;
  readonly #on: PendingCallListener;
  #suspendableHolds = 0;

  constructor(call: GuestCall, replayed: boolean, clock: WallClock, on: PendingCallListener) {
    super();
    this.call = call;
    this.replayed = replayed;
    this.#clock = clock;
    this.#on = on;
  }

  /** True if the call has had no effect yet: the run may make it again later. */
  get isSuspendable(): boolean {
    return this.#suspendableHolds > 0;
  }

  get id(): number {
    return this.call.id;
  }

  get site(): string | undefined {
    return cutStack(this.call.stack);
  }

  get path(): string {
    return this.call.path;
  }

  get arguments(): string {
    return toJson(this.call.arguments);
  }

  readArguments(datesAs: "dates" | "text" = "text"): DecodedValue {
    return decode(this.call.arguments, datesAs);
  }

  readBudget(): RunBudget {
    return this.#on.readBudget();
  }

  hold({ suspendable } = { suspendable: false }): () => void {
    const release = this.#clock.hold();
    if (!suspendable) return release;
    if (++this.#suspendableHolds === 1) this.#on.suspendable();
    let isHeld = true;
    return () => {
      if (isHeld) this.#suspendableHolds--;
      isHeld = false;
      release();
    };
  }
}
