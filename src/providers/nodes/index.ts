import { randomUUID } from "node:crypto";

import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { getMessage, sentence } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem, Provider, SkillHealth } from "../../model/provider.ts";
import type { ProvidedSkill } from "../../model/skill.ts";
import { hashValueFully } from "../../shared/digest.ts";
import { truncateText } from "../../shared/format-text.ts";
import { ANY_DEVICE, isDeviceName } from "../../shared/names/method-paths.ts";
import {
  createLivenessWatch,
  getDiscoverySubject,
  type LivenessWatch,
  loadNats,
  openNetwork,
  openSignatures,
  parseMessage,
} from "../../network/index.ts";
import { callAnyPeer, mergeSkills } from "./failover.ts";
import { parseListing } from "./listing.ts";
import { createOfflineError, Peer, type PeerIdentity } from "./peer.ts";
import type { NodeSettings } from "./settings.ts";
import { ANNOUNCEMENTS, SERVICE_NAME } from "./subjects.ts";

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

/** The time that the list of a machine may take. */
const LISTING_MS = 10_000;
/** The time in which machines answer after a connection, before `known` settles. */
const DISCOVERY_MS = 300;
const MAX_PEERS = 500;

/** Finds the machines of a network, follows their coming and going, and calls their skills. */
export async function connectNodes(settings: NodeSettings, warn: (text: string) => void): Promise<NodeProvider> {
  await loadNats();
  const hub = new Hub(settings, await openSignatures(settings), warn);
  hub.open();
  return hub;
}

class Hub implements NodeProvider {
  readonly #settings: NodeSettings;
  readonly #signatures: Awaited<ReturnType<typeof openSignatures>>;
  readonly #warn: (text: string) => void;
  readonly #peers = new Map<string, Peer>();
  readonly #listeners: (() => void)[] = [];
  /** Listings that are being read, by the id of the machine. */
  readonly #listings = new Map<string, Promise<void>>();
  #skills: readonly ProvidedSkill[] = [];
  #network: ReturnType<typeof openNetwork> | undefined;
  #inbox = "";
  readonly #liveness: LivenessWatch;
  #clashes = new Map<string, Problem>();
  readonly known: Promise<void>;
  #setKnown = (): void => {};

  constructor(
    settings: NodeSettings,
    signatures: Awaited<ReturnType<typeof openSignatures>>,
    warn: (text: string) => void,
  ) {
    this.#settings = settings;
    this.#signatures = signatures;
    this.#warn = warn;
    this.known = new Promise((resolve) => {
      this.#setKnown = resolve;
    });
    this.#liveness = createLivenessWatch({
      service: SERVICE_NAME,
      silenceMs: settings.silenceMs,
      getConnection: () => this.#network?.connection,
      getInbox: () => this.#inbox,
      peers: this.#peers,
      onGone: (id, why) => {
        const peer = this.#peers.get(id);
        if (peer !== undefined) this.#remove(peer, why);
      },
    });
  }

  open(): void {
    this.#network = openNetwork(this.#settings, {
      onOpen: (connection) => this.#discover(connection),
      onLost: () => {
        for (const peer of this.#peers.values()) peer.fail("cannot be reached: the connection to the network is lost");
      },
    });
    void this.#network.attempted.then(() => {
      if (this.#network?.connection === undefined) this.#setKnown();
    });
  }

  get skills(): readonly ProvidedSkill[] {
    return this.#skills;
  }

  get failure(): string | undefined {
    return this.#network?.failure;
  }

  get nodes(): readonly NodeStatus[] {
    return this.#sortedPeers().map(({ identity: { device, title }, skills, callCount }) => ({
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
    const flaws = this.#sortedPeers().flatMap(({ identity, flaws }) =>
      flaws.slice(0, 10).map((flaw) => ({ source: `device ${identity.device}`, error: flaw })),
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
    this.#liveness.close();
    for (const peer of this.#peers.values()) peer.fail("is called by a runtime that closes");
    await this.#network?.close();
  }

  #discover(connection: NatsConnection): void {
    if (this.#inbox === "") {
      this.#inbox = `_INBOX_${this.#settings.device}.${randomUUID()}`;
      this.#subscribe(connection);
    }
    connection.publish(getDiscoverySubject(SERVICE_NAME), "", { reply: `${this.#inbox}.discovery` });
    // Machines that have gone in the meantime are found by their pings.
    this.#liveness.pingAll();
    setTimeout(() => {
      void Promise.allSettled(this.#listings.values()).then(() => this.#setKnown());
    }, DISCOVERY_MS).unref();
  }

  #subscribe(connection: NatsConnection): void {
    const prefix = `${this.#inbox}.`;
    connection.subscribe(`${prefix}>`, {
      callback: (error, message) => {
        if (error === null) this.#receive(message.subject.slice(prefix.length), message);
      },
    });
    connection.subscribe(`${ANNOUNCEMENTS}.*`, {
      callback: (error, message) => {
        // A machine may only speak for itself.
        const device = message.subject.slice(ANNOUNCEMENTS.length + 1);
        if (error === null) this.#hear({ ...Object(parseMessage(message.data)), device });
      },
    });
    // A connection that has closed for good takes its subscriptions along.
    void connection.closed().then(() => (this.#inbox = ""));
  }

  #receive(token: string, message: Msg): void {
    if (token === "discovery") return this.#hear(parsePing(message));
    if (this.#liveness.receive(token, message)) return;
    for (const peer of this.#peers.values()) if (peer.has(token)) return peer.receive(token, message);
  }

  /** Takes what a machine says about itself. */
  #hear(text: unknown): void {
    const announced = parseAnnouncement(text);
    if (announced === undefined) return;
    const { identity, kind, digest } = announced;
    const peer = this.#peers.get(identity.id);
    if (kind === "gone") {
      if (peer !== undefined) this.#remove(peer, "has left the network");
    } else if (peer === undefined) void this.#add(identity);
    else {
      peer.lastSeen = performance.now();
      if (digest !== "" && digest !== peer.digest) void this.#read(peer);
    }
  }

  async #add(identity: PeerIdentity): Promise<void> {
    if (this.#peers.size >= MAX_PEERS || this.#listings.has(identity.id)) return;
    await this.#read(new Peer(identity, this.#createPeerHub()));
  }

  #createPeerHub(): ConstructorParameters<typeof Peer>[1] {
    const getConnection = (): NatsConnection | undefined => this.#network?.connection;
    const getInbox = (): string => this.#inbox;
    return {
      get connection() {
        return getConnection();
      },
      get inbox() {
        return getInbox();
      },
      signatures: this.#signatures,
      onCall: () => this.#liveness.watch(),
    };
  }

  /** Reads the skills of a machine, and offers them. A machine whose name is taken waits until the other one has gone. */
  #read(peer: Peer): Promise<void> {
    const { id, device } = peer.identity;
    const existing = this.#listings.get(id);
    if (existing !== undefined) return existing;
    // Replies are found by the peers that are known.
    this.#peers.set(id, peer);
    const work = peer.readListing(LISTING_MS).then((listing) => {
      const parsed = parseListing(listing);
      if (parsed === undefined) throw new Error("its list of skills cannot be read");
      Object.assign(peer, { ...parsed, digest: hashValueFully(listing), lastSeen: performance.now() });
      this.#update();
    });
    const listing = work
      .catch((error: unknown) => {
        this.#warn(`Cannot use the device "${device}": ${truncateText(getMessage(error), 500)}`);
        if (peer.skills.length === 0) this.#peers.delete(id);
      })
      .finally(() => this.#listings.delete(id));
    this.#listings.set(id, listing);
    return listing;
  }

  #remove(peer: Peer, why: string): void {
    if (!this.#peers.delete(peer.identity.id)) return;
    peer.gone = why;
    peer.fail(why);
    this.#update();
  }

  /** The machines by device name; of two with one name the one that was there first. */
  #sortedPeers(): readonly Peer[] {
    const byDevice = new Map<string, Peer>();
    for (const peer of this.#peers.values())
      if (peer.skills.length > 0 && !byDevice.has(peer.identity.device)) byDevice.set(peer.identity.device, peer);
    return [...byDevice.values()].toSorted((a, b) => (a.identity.device < b.identity.device ? -1 : 1));
  }

  /** Creates the skills again, and tells the listeners. */
  #update(): void {
    const peers = this.#sortedPeers();
    const used = new Set(peers);
    this.#clashes = new Map(
      [...this.#peers.values()]
        .filter((peer) => peer.skills.length > 0 && !used.has(peer))
        .map(({ identity: { device } }) => [
          device,
          { source: `device ${device}`, error: `Two machines have the name ${device}: the second one is not used` },
        ]),
    );
    const own = peers.flatMap((peer) =>
      peer.skills.map((skill): ProvidedSkill => ({
        ...skill,
        name: `${peer.identity.device}.${skill.name}`,
        source: `device ${peer.identity.device}`,
        kind: "node",
        invoke: (method, input, context) => peer.call({ skill: skill.name, method, input, context }),
      })),
    );
    const shared = mergeSkills(peers).map((skill): ProvidedSkill => ({
      ...skill,
      name: `${ANY_DEVICE}.${skill.name}`,
      source: "whichever device can",
      kind: "node",
      invoke: (method, input, context) => this.#callAny({ skill: skill.name, method, input, context }),
    }));
    this.#skills = [...shared, ...own];
    for (const listener of this.#listeners) listener();
  }

  async #callAny(call: Parameters<Peer["call"]>[0]): Promise<unknown> {
    if (this.#network?.connection === undefined) throw createOfflineError();
    return callAnyPeer(this.#sortedPeers(), call);
  }
}

interface Announcement {
  readonly kind: "here" | "gone";
  readonly identity: PeerIdentity;
  /** The digest of its list of skills; empty in the answer to a ping. */
  readonly digest: string;
}

/** Reads the answer of a service to a ping as an announcement. */
function parsePing(message: Msg): unknown {
  const ping = message.headers?.code === 503 ? undefined : parseMessage(message.data);
  if (!isRecord(ping) || !isRecord(ping["metadata"])) return undefined;
  return { ...ping["metadata"], id: ping["id"], kind: "here" };
}

/** Parses what a machine says about itself; `undefined` if it is not valid. */
function parseAnnouncement(text: unknown): Announcement | undefined {
  const { kind, device, id, title, digest } = isRecord(text) ? text : {};
  if (kind !== "here" && kind !== "gone") return undefined;
  if (typeof device !== "string" || !isDeviceName(device) || device === ANY_DEVICE) return undefined;
  if (typeof id !== "string" || !/^[A-Za-z0-9]{10,40}$/.test(id)) return undefined;
  return {
    kind,
    identity: { device, id, title: typeof title === "string" ? truncateText(title, 100) : device },
    digest: typeof digest === "string" ? digest.slice(0, 100) : "",
  };
}
