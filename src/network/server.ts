import { randomBytes } from "node:crypto";

import { getMessage } from "../errors.ts";
import { isTextList, parseJsonObject } from "../model/json.ts";
import { isDeviceName } from "../shared/names/method-paths.ts";
import { setBounded } from "../shared/lru.ts";
import { countDroppedMessage, extractContext, runInContext } from "../telemetry/index.ts";
import { Channel, FRAME, type ChannelMessage } from "./channel.ts";
import { NetworkEndpoint, type EndpointOptions, type InboxListener, isId } from "./endpoint.ts";
import type { RequestReport } from "./machine.ts";
import { ReceivedRequests } from "./received-requests.ts";
import { createAgreementKey, createSession, SALT_BYTES } from "./session.ts";
import { describeProtocol } from "./statements.ts";
import { ASK_SUBJECTS_1, getAnnouncementSubject, getAskSubject, getInbox } from "./subjects.ts";

/** A request of another process while this one answers it. */
export interface IncomingRequest {
  readonly method: string;
  readonly text: string;
  /** The machine that has sent it; `undefined` if no keys of machines are configured. */
  readonly from: string | undefined;
  /** Sends an event of the request, or its end. A refusal says that it has not begun. Never rejects. */
  readonly send: (kind: "event" | "result" | "refusal", text: string) => Promise<void>;
  /** Takes the further texts that the sender has for the request. */
  onInput?: (text: string) => void;
  /** The sender does not want it any more; `why` may be empty. */
  onCancel?: (why: string) => void;
}

export interface NetworkServerOptions extends EndpointOptions {
  /** Answers a request, and resolves when its end is sent. A rejection is reported. */
  readonly answer: (request: IncomingRequest) => Promise<void>;
  /** A process has said what it is. Not checked. */
  readonly onFacts?: (facts: unknown) => void;
}

/** A process in a network that answers the requests of others. */
export interface NetworkServer {
  /** Says why the network cannot be reached; `undefined` while it can. */
  readonly failure: string | undefined;
  /** Settles when the first attempt to connect has ended. */
  readonly attempted: Promise<void>;
  /** Tells clients what this process says about itself now. */
  update(): void;
  /** Tells clients that this process goes. Their requests end. */
  leave(): void;
  close(): Promise<void>;
}

/** Announces this process in the background, and answers requests. Throws `OPTION_INVALID` for a key that cannot be read. */
export async function openServer(options: NetworkServerOptions): Promise<NetworkServer> {
  const server = new MachineServer(options, await NetworkEndpoint.open(options));
  server.open();
  return server;
}

/** Milliseconds between two announcements at least, as anyone may ask for one. */
const MIN_ANNOUNCE_MS = 50;
/** Greetings that no message has followed: they may be recorded ones. */
const MAX_GREETINGS = 256;
const MAX_SESSIONS = 1_000;

interface ServerSession {
  readonly channel: Channel;
  readonly from: string | undefined;
  readonly received: ReceivedRequests;
  /** Those that have not ended. */
  readonly requests: Map<string, IncomingRequest>;
}

class MachineServer implements NetworkServer {
  readonly #options: NetworkServerOptions;
  readonly #endpoint: NetworkEndpoint;
  readonly #key = createAgreementKey();
  readonly #announcement: Buffer;
  readonly #announcementText: string;
  readonly #greetings = new Map<string, ServerSession>();
  readonly #sessions = new Map<string, ServerSession>();
  #announceTimer: NodeJS.Timeout | undefined;
  #beat: NodeJS.Timeout | undefined;
  #hasLeft = false;

  constructor(options: NetworkServerOptions, endpoint: NetworkEndpoint) {
    this.#options = options;
    this.#endpoint = endpoint;
    const { group, settings } = options;
    const facts = { group, ...endpoint.address, title: settings.title, key: this.#key.publicText };
    this.#announcement = endpoint.statements.create("announcement", facts);
    this.#announcementText = JSON.stringify(facts);
  }

  open(): void {
    const { group, settings } = this.#options;
    this.#endpoint.connect({
      onInbox: (...message) => this.#receive(...message),
      topics: {
        [getAskSubject(group)]: () => this.#announceSoon(),
        [ASK_SUBJECTS_1[group]]: () =>
          this.#endpoint.warnOnce(`Cannot answer a process that looks for machines: ${describeProtocol(1)}`),
      },
      onOpen: () => this.#announce(),
      onLost: () => {},
    });
    this.#beat = setInterval(() => this.#announce(), Math.max(100, settings.silenceMs / 3));
  }

  get failure(): string | undefined {
    return this.#endpoint.failure;
  }

  get attempted(): Promise<void> {
    return this.#endpoint.attempted;
  }

  update(): void {
    for (const { channel } of this.#sessions.values()) this.#sendFacts(channel);
  }

  leave(): void {
    this.#hasLeft = true;
    clearInterval(this.#beat);
    clearTimeout(this.#announceTimer);
    for (const { channel } of this.#sessions.values()) void channel.send({ kind: "gone", id: "", text: "" });
  }

  async close(): Promise<void> {
    if (!this.#hasLeft) this.leave();
    await this.#endpoint.close();
  }

  #announceSoon(): void {
    this.#announceTimer ??= setTimeout(() => this.#announce(), MIN_ANNOUNCE_MS).unref();
  }

  #announce(): void {
    clearTimeout(this.#announceTimer);
    this.#announceTimer = undefined;
    const { group, settings } = this.#options;
    if (this.#hasLeft) return;
    this.#endpoint.connection?.publish(getAnnouncementSubject(group, settings.device), this.#announcement);
  }

  #receive({ from, session: id }: Parameters<InboxListener>[0], bytes: Uint8Array): void {
    const session = this.#sessions.get(id) ?? this.#greetings.get(id);
    if (bytes[0] === FRAME.hello && session === undefined) this.#greet(id, from, bytes.subarray(1));
    else if (bytes[0] === FRAME.sealed && session !== undefined) this.#take(id, session, bytes.subarray(1));
    else countDroppedMessage("session_unknown");
  }

  /** Answers a greeting with random bytes and the first frame of a session. */
  #greet(id: string, device: string, bytes: Uint8Array): void {
    const statement = this.#endpoint.read("hello", device, bytes);
    if (statement === undefined) return;
    const { address, statements } = this.#endpoint;
    const { group, to, device: greeter, start, session: sessionId, key } = statement.facts;
    const isForThis = group === this.#options.group && to === address.start && greeter === device && sessionId === id;
    const isValid = isForThis && isDeviceName(device) && isId(id) && isId(start) && typeof key === "string";
    const salt = randomBytes(SALT_BYTES);
    const transcript = [this.#announcementText, statement.text];
    const session = isValid
      ? createSession({ own: this.#key, other: key, salt, transcript, side: "server" })
      : undefined;
    if (session === undefined || !isValid) return countDroppedMessage("statement");
    const channel = new Channel({
      session,
      getConnection: () => this.#endpoint.connection,
      subject: getInbox({ device, start }, address.device, id),
      maxBytes: this.#options.maxBytes,
    });
    const from = statements.areVerified ? device : undefined;
    const opened = { channel, from, received: new ReceivedRequests(), requests: new Map() };
    setBounded(this.#greetings, [id, opened], MAX_GREETINGS);
    this.#sendFacts(channel, {}, Buffer.concat([Buffer.of(FRAME.welcome), salt]));
  }

  #take(id: string, session: ServerSession, frame: Uint8Array): void {
    const message = session.channel.receive(frame);
    if (message === undefined) return;
    this.#greetings.delete(id);
    setBounded(this.#sessions, [id, session], MAX_SESSIONS);
    if (message === "part") return;
    const { kind, text } = message;
    const request = session.requests.get(message.id);
    if (kind === "ping") this.#answerPing(session, text);
    else if (kind === "request" && session.received.accept(message.id)) this.#answer(session, message);
    else if (kind === "input") request?.onInput?.(text);
    else if (kind === "cancel") request?.onCancel?.(text);
  }

  #answerPing({ channel, received, requests }: ServerSession, text: string): void {
    const { facts, sent, open } = parseJsonObject(text) ?? {};
    const isValid = typeof sent === "number" && isTextList(open);
    this.#sendFacts(channel, isValid ? received.compare({ sent, open }, (id) => requests.has(id)) : {});
    this.#options.onFacts?.(facts);
  }

  #answer({ channel, from, requests }: ServerSession, { id, method = "", text, trace }: ChannelMessage): void {
    // One after the other: a long message has several parts.
    let sending: Promise<void> = Promise.resolve();
    const request: IncomingRequest = {
      method,
      text,
      from,
      send(kind, says) {
        const send = (): Promise<void> => channel.send({ kind, id, text: says });
        // A connection that has closed has no receiver.
        sending = sending.then(send).catch(() => {});
        return sending;
      },
    };
    requests.set(id, request);
    runInContext(extractContext(trace), () => this.#options.answer(request))
      .catch((error: unknown) => this.#options.warn(`Cannot answer a request: ${getMessage(error)}`))
      .finally(() => requests.delete(id));
  }

  #sendFacts(channel: Channel, report: Partial<RequestReport> = {}, prefix?: Uint8Array): void {
    const text = JSON.stringify({ facts: this.#options.describe(), ...report });
    void channel.send({ kind: "pong", id: "", text }, prefix);
  }
}
