import { isRecord, parseJson } from "../../model/json.ts";
import type { Machine } from "../../network/index.ts";
import { callMachine, type RemoteCall } from "./call-machine.ts";
import { type ListedSkill, parseListing } from "./listing.ts";

/** A machine whose skills can be called. */
export class RemoteDevice {
  readonly machine: Machine;
  skills: readonly ListedSkill[] = [];
  /** The parts of its list that are left out, with the reasons. */
  flaws: readonly string[] = [];
  callCount = 0;
  /** The digest of the list that was read last. */
  #digest: unknown;

  constructor(machine: Machine) {
    this.machine = machine;
  }

  /** Reads the list of its skills if it is another one. Resolves to true if it has changed. */
  async readListing(): Promise<boolean> {
    const digest = isRecord(this.machine.facts) ? this.machine.facts["digest"] : undefined;
    if (digest === undefined || digest === this.#digest) return false;
    this.#digest = digest;
    const request = this.machine.request("catalog", "", { isRepeatable: true });
    const timeout = (): void => request.end({ kind: "gone", why: "does not answer", isSent: true });
    const timer = setTimeout(timeout, LISTING_MS).unref();
    const end = await request.ended;
    clearTimeout(timer);
    if (end.kind !== "result") {
      this.#digest = undefined;
      throw new Error("Its list of skills does not arrive");
    }
    const parsed = parseListing(parseJson(end.text));
    if (parsed === undefined) throw new Error("Its list of skills cannot be read");
    ({ skills: this.skills, flaws: this.flaws } = parsed);
    return true;
  }

  /** Calls a method. `isRepeatable`: the call does no harm when another machine makes it, too. */
  call(call: RemoteCall, isRepeatable = false): Promise<unknown> {
    this.callCount++;
    return callMachine(this.machine, call, isRepeatable);
  }
}

/** The time that the list of a machine may take. */
const LISTING_MS = 10_000;
