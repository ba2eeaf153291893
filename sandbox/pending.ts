import type { SandboxCall } from "./contract.ts";
import type { GuestCall } from "./protocol.ts";

/** A call without an answer. Its signal is made when somebody asks for it: most calls are over before. */
export class Pending implements SandboxCall {
  readonly call: GuestCall;
  readonly resumed: boolean;
  #controller: AbortController | undefined;

  constructor(call: GuestCall, resumed: boolean) {
    this.call = call;
    this.resumed = resumed;
  }

  get id(): number {
    return this.call.id;
  }

  get path(): string {
    return this.call.path;
  }

  get arguments(): string {
    return this.call.arguments;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  cancel(): void {
    this.#controller ??= new AbortController();
    this.#controller.abort();
  }
}
