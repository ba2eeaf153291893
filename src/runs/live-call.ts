import { Cancellation, type SandboxAnswer, type SandboxCall } from "../../sandbox/index.ts";

/** A call that lasts while its program is suspended and executed again: the executions make it one after the other. */
export class LiveCall extends Cancellation implements SandboxCall {
  readonly #holds = new Set<ActiveHold>();
  #call: SandboxCall;
  #answer: Promise<SandboxAnswer> | undefined;

  constructor(call: SandboxCall) {
    super();
    this.#call = call;
    call.onCancel(() => this.cancel());
  }

  get id(): number {
    return this.#call.id;
  }

  get path(): string {
    return this.#call.path;
  }

  get arguments(): string {
    return this.#call.arguments;
  }

  get site(): string | undefined {
    return this.#call.site;
  }

  get replayed(): boolean {
    return this.#call.replayed;
  }

  readBudget(): ReturnType<SandboxCall["readBudget"]> {
    return this.#call.readBudget();
  }

  readArguments(...how: Parameters<SandboxCall["readArguments"]>): ReturnType<SandboxCall["readArguments"]> {
    return this.#call.readArguments(...how);
  }

  hold(options?: { readonly suspendable: boolean }): () => void {
    const hold: ActiveHold = { options, release: this.#call.hold(options) };
    this.#holds.add(hold);
    return () => {
      this.#holds.delete(hold);
      hold.release();
    };
  }

  /** Makes the call, which never rejects. */
  start(make: (call: SandboxCall) => Promise<SandboxAnswer>): Promise<SandboxAnswer> {
    this.#answer = make(this);
    return this.#answer;
  }

  /** Continues the call in a later execution of the program. */
  attach(call: SandboxCall): Promise<SandboxAnswer> {
    this.#call = call;
    call.onCancel(() => this.cancel());
    for (const hold of this.#holds) hold.release = call.hold(hold.options);
    return this.#answer ?? Promise.reject(new TypeError(`Call ${call.id} was not started`));
  }

  /** Resolves when the call has its answer. */
  get settled(): Promise<unknown> {
    return this.#answer ?? Promise.resolve();
  }
}

interface ActiveHold {
  readonly options: { readonly suspendable: boolean } | undefined;
  release: () => void;
}
