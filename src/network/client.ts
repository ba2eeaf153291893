import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "@nats-io/transport-node";

import { isTextList, parseJsonObject } from "../model/json.ts";
import { truncateText } from "../shared/format-text.ts";
import { isDeviceName } from "../shared/names/method-paths.ts";
import { countDroppedMessage } from "../telemetry/index.ts";
import { Channel, FRAME } from "./channel.ts";
import { createId, NetworkEndpoint, type EndpointOptions, type InboxListener, isId } from "./endpoint.ts";
import { Machine } from "./machine.ts";
import { type AgreementKey, createAgreementKey, createSession, SALT_BYTES } from "./session.ts";
import { getAnnouncementSubject, getAskSubject, getInbox } from "./subjects.ts";

export interface ClientOptions extends EndpointOptions {
  /** A machine is there, or says something else about itself. */
  readonly onFacts: (machine: Machine) => void;
  /** A machine does not exist any more. Its requests have ended. */
  readonly onGone: (machine: Machine, why: string) => void;
  /** True if a machine has certainly ended. */
  readonly hasEnded?: (machine: Machine) => boolean;
}

/** The machines of a network, for a process that sends requests to them. */
export interface NetworkClient {
  /** Says why the network cannot be reached; `undefined` while it can. */
  readonly failure: string | undefined;
  /** Settles when the machines that answer at once are known, or the first attempt to connect has failed. */
  readonly known: Promise<void>;
  /** Resolves when everything is sent. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Finds the machines of a network in the background. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function openClient(options: ClientOptions): Promise<NetworkClient> {
  const client = new MachineClient(options, await NetworkEndpoint.open(options));
  client.open();
  return client;
}

/** The time in which machines answer after a connection, before `known` settles. */
const DISCOVERY_MS = 300;
const MAX_MACHINES = 500;
/** Machines of one name that have not answered: of recorded announcements, no sender lives. */
const MAX_UNANSWERED = 8;
/** Milliseconds between pings of a machine that has requests. */
const BUSY_MS = 200;
/** The silence after which a machine is gone if the NATS server, or someone else, reports that it is not connected. */
const ABSENT_MS = 1_000;
/** The same once such a report was false: someone sends them, and a machine that has much to do must not look gone. */
const DOUBTED_ABSENT_MS = 2_000;
const ABSENT_PING_MS = 100;
/** Milliseconds by which a timer may be late before this process counts as the one that was busy. */
const LATE_MS = 100;

/** The greeting of a machine that has not answered yet. */
interface Greeting {
  readonly machine: Machine;
  readonly key: AgreementKey;
  readonly hello: string;
}

/** The announcement of a machine. */
interface Announced {
  readonly machine: Machine;
  readonly key: string;
  readonly text: string;
}

class MachineClient implements NetworkClient {
  readonly #options: ClientOptions;
  readonly #endpoint: NetworkEndpoint;
  /** By the id of the start. */
  readonly #announced = new Map<string, Announced>();
  /** By the id of the session. */
  readonly #greetings = new Map<string, Greeting>();
  readonly #sessions = new Map<string, Machine>();
  #timer: NodeJS.Timeout | undefined;
  /** True if a machine has answered that was reported as not connected. */
  #hasFalseReports = false;
  #lastTick = performance.now();
  #lastFullTick = 0;
  /** The planned time of the next tick. */
  #due = 0;
  #firstAnswers: Promise<void> = Promise.resolve();

  constructor(options: ClientOptions, endpoint: NetworkEndpoint) {
    this.#options = options;
    this.#endpoint = endpoint;
  }

  open(): void {
    const { group } = this.#options;
    this.#endpoint.connect({
      onInbox: (...message) => this.#receive(...message),
      topics: { [getAnnouncementSubject(group, "*")]: (message) => this.#meet(message) },
      onOpen: (connection) => {
        connection.publish(getAskSubject(group));
        // Machines that have gone in the meantime are found by their pings.
        this.#lastFullTick = 0;
        this.#schedule();
      },
      onLost: () => {
        for (const machine of this.#sessions.values()) machine.endAll({ kind: "offline", isSent: true });
      },
    });
    this.#firstAnswers = this.#endpoint.attempted.then(() =>
      this.failure === undefined ? pause(DISCOVERY_MS, undefined, { ref: false }) : undefined,
    );
  }

  get failure(): string | undefined {
    return this.#endpoint.failure;
  }

  get known(): Promise<void> {
    return this.#firstAnswers;
  }

  flush(): Promise<void> {
    return this.#endpoint.flush();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#endpoint.close();
  }

  /** Takes the announcement of a machine, and greets it if it is new. */
  #meet({ subject, data }: Msg): void {
    const device = subject.slice(subject.lastIndexOf(".") + 1);
    const statement = this.#endpoint.read("announcement", device, data);
    if (statement === undefined) return;
    const { facts, text } = statement;
    const { group, device: announcer, start, key, title } = facts;
    const isValid = group === this.#options.group && announcer === device && isDeviceName(device);
    if (!isValid || !isId(start) || typeof key !== "string" || this.#announced.has(start)) return;
    if (!this.#makeSpace(device)) return;
    const name = typeof title === "string" ? truncateText(title, 100) : device;
    const machine = new Machine({ device, start, title: name, onBusy: () => this.#schedule() });
    const announced = { machine, key, text };
    this.#announced.set(start, announced);
    this.#greet(announced);
    this.#schedule();
  }

  /** Drops the oldest announcement of a name if too many machines of it have not answered. */
  #makeSpace(device: string): boolean {
    const waiting = [...this.#announced.values()].filter(
      ({ machine }) => machine.device === device && machine.channel === undefined,
    );
    const [oldest] = waiting;
    if (waiting.length >= MAX_UNANSWERED && oldest !== undefined) this.#forget(oldest.machine);
    return this.#announced.size < MAX_MACHINES;
  }

  /** Says hello to a machine, with a key for this session only. */
  #greet({ machine }: Announced): void {
    const { address, statements, connection } = this.#endpoint;
    this.#forgetGreeting(machine);
    const [session, key] = [createId(8), createAgreementKey()];
    const hello = statements.create("hello", {
      group: this.#options.group,
      to: machine.start,
      ...address,
      session,
      key: key.publicText,
    });
    const text = parseJsonObject(hello.toString("utf8"))?.["text"] as string;
    this.#greetings.set(session, { machine, key, hello: text });
    connection?.publish(getInbox(machine, address.device, session), Buffer.concat([Buffer.of(FRAME.hello), hello]));
  }

  #receive({ session, isAbsence }: Parameters<InboxListener>[0], bytes: Uint8Array): void {
    const machine = this.#sessions.get(session);
    if (isAbsence) {
      if (machine !== undefined) this.#noteAbsence(machine);
      return;
    }
    const greeting = this.#greetings.get(session);
    if (bytes[0] === FRAME.welcome && greeting !== undefined) this.#welcome(session, greeting, bytes.subarray(1));
    else if (bytes[0] === FRAME.sealed && machine !== undefined) this.#take(machine, bytes.subarray(1));
    else countDroppedMessage("session_unknown");
  }

  /** Takes the answer to a greeting: random bytes, and the first frame of the session. */
  #welcome(id: string, { machine, key, hello }: Greeting, bytes: Uint8Array): void {
    const { address } = this.#endpoint;
    const announced = this.#announced.get(machine.start);
    if (announced === undefined) return;
    const salt = bytes.subarray(0, SALT_BYTES);
    const transcript = [announced.text, hello];
    const session = createSession({ own: key, other: announced.key, salt, transcript, side: "client" });
    if (session === undefined) return countDroppedMessage("statement");
    const channel = new Channel({
      session,
      getConnection: () => this.#endpoint.connection,
      subject: getInbox(machine, address.device, id),
      reply: getInbox(address, machine.device, id),
      maxBytes: this.#options.maxBytes,
    });
    const message = channel.receive(bytes.subarray(SALT_BYTES));
    if (message === undefined || message === "part") return;
    this.#greetings.delete(id);
    this.#sessions.set(id, machine);
    machine.channel = channel;
    machine.silentMs = 0;
    this.#ping(machine);
    this.#takePong(machine, message.text);
  }

  #take(machine: Machine, frame: Uint8Array): void {
    const message = machine.channel?.receive(frame);
    if (message === undefined) return;
    machine.silentMs = 0;
    if (machine.isAbsent) this.#hasFalseReports = true;
    machine.isAbsent = false;
    if (message === "part") return;
    if (message.kind === "gone") this.#remove(machine, "has left the network");
    else if (message.kind === "pong") this.#takePong(machine, message.text);
    else machine.receive(message);
  }

  #takePong(machine: Machine, text: string): void {
    const { facts, missing, lost } = parseJsonObject(text) ?? {};
    machine.facts = facts;
    if (isTextList(missing) && isTextList(lost)) machine.noteReport({ missing, lost });
    this.#options.onFacts(machine);
  }

  #noteAbsence(machine: Machine): void {
    machine.noteAbsence();
    if (this.#options.hasEnded?.(machine) === true) this.#remove(machine, NOT_CONNECTED);
    else this.#schedule();
  }

  /** Plans the next pings: soon if a machine has requests, or may be gone. */
  #schedule(): void {
    clearTimeout(this.#timer);
    const idleMs = this.#idleMs;
    const machines = [...this.#sessions.values()];
    const busyMs = machines.some(({ size }) => size > 0) ? BUSY_MS : Infinity;
    const soonMs = machines.some(({ isAbsent }) => isAbsent) ? ABSENT_PING_MS : busyMs;
    const now = performance.now();
    this.#due = Math.max(now, Math.min(this.#lastFullTick + idleMs, this.#lastTick + soonMs));
    this.#timer = setTimeout(() => this.#tick(), this.#due - now).unref();
  }

  get #idleMs(): number {
    return Math.max(50, this.#options.settings.silenceMs / 5);
  }

  #tick(): void {
    const now = performance.now();
    // The time in which this process was too busy to receive anything is not a silence of others.
    const elapsed = now - this.#lastTick - Math.max(0, now - this.#due - LATE_MS);
    this.#lastTick = now;
    const isFull = now - this.#lastFullTick >= this.#idleMs - 1;
    if (isFull) this.#lastFullTick = now;
    if (this.#endpoint.connection !== undefined)
      for (const announced of this.#announced.values()) this.#check(announced, { elapsed, isFull });
    this.#schedule();
  }

  #check(announced: Announced, { elapsed, isFull }: { readonly elapsed: number; readonly isFull: boolean }): void {
    const { machine } = announced;
    const { silenceMs } = this.#options.settings;
    const absentMs = Math.min(silenceMs, this.#hasFalseReports ? DOUBTED_ABSENT_MS : ABSENT_MS);
    machine.silentMs += elapsed;
    if (machine.channel === undefined) {
      if (machine.silentMs > silenceMs) this.#forget(machine);
      else if (isFull) this.#greet(announced);
    } else if (machine.silentMs > (machine.isAbsent ? absentMs : silenceMs))
      this.#remove(machine, machine.isAbsent ? NOT_CONNECTED : "does not answer any more");
    else if (isFull || machine.size > 0 || machine.isAbsent) this.#ping(machine);
  }

  #ping({ channel, openRequests }: Machine): void {
    const text = JSON.stringify({ facts: this.#options.describe(), ...openRequests });
    void channel?.send({ kind: "ping", id: "", text });
  }

  #remove(machine: Machine, why: string): void {
    if (machine.departure !== undefined) return;
    machine.departure = why;
    this.#forget(machine);
    machine.endAll({ kind: "gone", why, isSent: true });
    this.#options.onGone(machine, why);
  }

  #forget(machine: Machine): void {
    this.#announced.delete(machine.start);
    this.#forgetGreeting(machine);
    for (const [id, other] of this.#sessions) if (other === machine) this.#sessions.delete(id);
  }

  #forgetGreeting(machine: Machine): void {
    for (const [id, greeting] of this.#greetings) if (greeting.machine === machine) this.#greetings.delete(id);
  }
}

const NOT_CONNECTED = "is not connected any more";
