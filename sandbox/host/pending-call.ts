import { Cancellation } from "./cancellation.ts";
import type { SandboxCall } from "../contract.ts";
import { type DecodedValue, decode, toJson } from "../codec/guest-value.ts";
import type { GuestCall } from "../shared/protocol.ts";
import type { WallClock } from "./wall-clock.ts";

/** A call that has no answer yet. */
export class PendingCall extends Cancellation implements SandboxCall {
  readonly call: GuestCall;
  readonly resumed: boolean;
  readonly replayed = false;
  readonly #clock: WallClock;

  constructor(call: GuestCall, resumed: boolean, clock: WallClock) {
    super();
    this.call = call;
    this.resumed = resumed;
    this.#clock = clock;
  }

  get id(): number {
    return this.call.id;
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

  hold(): () => void {
    return this.#clock.hold();
  }
}
