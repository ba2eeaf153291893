import { getMessage, sentence } from "../../errors.ts";
import type { Problem, Provider, SkillHealth } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import { type NetworkClient, type Machine, openClient } from "../../network/index.ts";
import { truncateText } from "../../shared/format-text.ts";
import { ANY_DEVICE } from "../../shared/names/method-paths.ts";
import { createOfflineError, type RemoteCall } from "./call-machine.ts";
import { RemoteDevice } from "./device.ts";
import { callAnyDevice, mergeSkills } from "./failover.ts";
import { MAX_MESSAGE_BYTES, type NodeSettings } from "./settings.ts";

export { joinNetwork } from "./join-network.ts";
export type { NodeSettings } from "./settings.ts";

/** A machine in the network, for people. */
export interface NodeStatus {
  readonly device: string;
  readonly title: string;
  readonly skills: readonly string[];
  readonly methods: number;
  /** Calls that this process has made there. */
  readonly calls: number;
}

/** The skills of other machines. */
export interface NodeProvider extends Provider {
  readonly nodes: readonly NodeStatus[];
  /** Says why the network cannot be reached; `undefined` while it can. */
  readonly failure: string | undefined;
  /** Settles when the machines that answer at once are known, or the network cannot be reached. */
  readonly known: Promise<void>;
}

/** Finds the machines of a network, follows their coming and going, and calls their skills. */
export async function connectNodes(settings: NodeSettings, warn: (text: string) => void): Promise<NodeProvider> {
  const hub = new Hub(warn);
  await hub.open(settings);
  return hub;
}

class Hub implements NodeProvider {
  readonly #warn: (text: string) => void;
  readonly #devices = new Map<Machine, RemoteDevice>();
  readonly #listeners: (() => void)[] = [];
  /** Lists of skills that are being read. */
  readonly #listings = new Set<Promise<void>>();
  #skills: readonly ProvidedSkill[] = [];
  #clashes = new Map<string, Problem>();
  #client: NetworkClient | undefined;

  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  async open(settings: NodeSettings): Promise<void> {
    this.#client = await openClient({
      settings,
      group: "nodes",
      maxBytes: MAX_MESSAGE_BYTES,
      describe: () => ({}),
      warn: this.#warn,
      onFacts: (machine) => this.#read(machine),
      onGone: (machine) => {
        this.#devices.delete(machine);
        this.#update();
      },
    });
  }

  get known(): Promise<void> {
    return (this.#client?.known ?? Promise.resolve()).then(async () => {
      await Promise.all(this.#listings);
    });
  }

  get skills(): readonly ProvidedSkill[] {
    return this.#skills;
  }

  get failure(): string | undefined {
    return this.#client?.failure;
  }

  get nodes(): readonly NodeStatus[] {
    return this.#sortedDevices().map(({ machine: { device, title }, skills, callCount }) => ({
      device,
      title,
      skills: skills.map(({ name }) => name),
      methods: skills.reduce((sum, { methods }) => sum + methods.length, 0),
      calls: callCount,
    }));
  }

  get problems(): readonly Problem[] {
    const { failure } = this;
    const offline = failure === undefined ? [] : [{ source: "nodes", error: sentence("NODES_OFFLINE", failure) }];
    const flaws = this.#sortedDevices().flatMap(({ machine, flaws }) =>
      flaws.slice(0, 10).map((flaw) => ({ source: `device ${machine.device}`, error: flaw })),
    );
    return [...offline, ...this.#clashes.values(), ...flaws];
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async health(): Promise<readonly SkillHealth[]> {
    const { failure } = this;
    return this.#skills.map(({ name, source }) => ({
      skill: name,
      source,
      healthy: failure === undefined,
      message: failure ?? "ok",
    }));
  }

  async close(): Promise<void> {
    for (const { machine } of this.#devices.values())
      machine.endAll({ kind: "gone", why: "is called by a runtime that closes", isSent: true });
    await this.#client?.close();
  }

  /** Reads the skills of a machine, and offers them. A machine whose name is taken waits until the other one has gone. */
  #read(machine: Machine): void {
    const device = this.#devices.get(machine) ?? new RemoteDevice(machine);
    this.#devices.set(machine, device);
    const listing = device
      .readListing()
      .then(
        (hasChanged) => {
          if (hasChanged && machine.departure === undefined) this.#update();
        },
        (error: unknown) =>
          this.#warn(`Cannot use the device "${machine.device}": ${truncateText(getMessage(error), 500)}`),
      )
      .finally(() => this.#listings.delete(listing));
    this.#listings.add(listing);
  }

  /** The machines by device name; of two with one name the one that was there first. */
  #sortedDevices(): readonly RemoteDevice[] {
    const byName = new Map<string, RemoteDevice>();
    for (const device of this.#devices.values())
      if (device.skills.length > 0 && !byName.has(device.machine.device)) byName.set(device.machine.device, device);
    return [...byName.values()].toSorted((a, b) => (a.machine.device < b.machine.device ? -1 : 1));
  }

  /** Creates the skills again, and tells the listeners. */
  #update(): void {
    const devices = this.#sortedDevices();
    const used = new Set(devices);
    this.#clashes = new Map(
      [...this.#devices.values()]
        .filter((device) => device.skills.length > 0 && !used.has(device))
        .map(({ machine: { device } }) => [
          device,
          { source: `device ${device}`, error: `Two machines have the name ${device}: the second one is not used` },
        ]),
    );
    const own = devices.flatMap((device) =>
      device.skills.map((skill): ProvidedSkill => ({
        ...skill,
        name: `${device.machine.device}.${skill.name}`,
        source: `device ${device.machine.device}`,
        kind: "node",
        invoke: (method, input, context) => this.#call(device, { skill: skill.name, method, input, context }),
      })),
    );
    const shared = mergeSkills(devices).map((skill): ProvidedSkill => ({
      ...skill,
      name: `${ANY_DEVICE}.${skill.name}`,
      source: "whichever device can",
      kind: "node",
      invoke: (method, input, context) => this.#call(undefined, { skill: skill.name, method, input, context }),
    }));
    this.#skills = [...shared, ...own];
    for (const listener of this.#listeners) listener();
  }

  /** Makes a call on a device, or on whichever can. */
  async #call(device: RemoteDevice | undefined, call: RemoteCall): Promise<unknown> {
    if (this.failure !== undefined) throw createOfflineError();
    return device === undefined ? callAnyDevice(this.#sortedDevices(), call) : device.call(call);
  }
}
