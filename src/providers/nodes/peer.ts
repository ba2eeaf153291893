import { randomBytes } from "node:crypto";
import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord, parseJson } from "../../model/json.ts";
import type { CallContext, LogLevel, MethodDefinition } from "../../model/skill.ts";
import { truncateText } from "../../shared/format-text.ts";
import { REMOTE_CODES } from "../../shared/remote-errors.ts";
import { injectContext } from "../../telemetry/index.ts";
import {
  createFacts,
  KIND,
  MAX_MESSAGE_BYTES,
  MessageReader,
  parseMessage,
  sendMessage,
  SIGNATURE,
  type Signatures,
  type WatchedPeer,
  type WholeMessage,
} from "../../network/index.ts";
import type { ListedSkill } from "./listing.ts";
import { getSubjects } from "./subjects.ts";

/** A machine in the network, as an announcement or a ping describes it. */
export interface PeerIdentity {
  readonly device: string;
  /** Unique for each start of the machine. */
  readonly id: string;
  readonly title: string;
}

/** A call of a method of another machine. */
export interface RemoteCall {
  /** The skill's name on that machine. */
  readonly skill: string;
  readonly method: MethodDefinition;
  readonly input: Readonly<Record<string, unknown>>;
  readonly context: CallContext;
}

/** The hub that a peer belongs to. */
export interface PeerHub {
  /** `undefined` while the network cannot be reached. */
  readonly connection: NatsConnection | undefined;
  /** The subject under which replies arrive. */
  readonly inbox: string;
  readonly signatures: Signatures;
  /** Called when a call begins: a machine with calls is watched more closely. */
  readonly onCall: () => void;
}

interface SentCall {
  readonly receive: (message: Msg) => void;
  readonly fail: (why: string) => void;
}

/** The error of a call that a machine did not answer. `hasBegun` is true if the call may have had an effect. */
export class NodeGoneError extends SkillgateError {
  readonly hasBegun: boolean;

  constructor(device: string, why: string, hasBegun: boolean) {
    const effect = hasBegun ? "; the call had begun, and whether it had an effect is unknown" : "";
    super("NODE_GONE", sentence("NODE_GONE", `"${device}" ${why}${effect}`), { device });
    this.hasBegun = hasBegun;
  }
}

/** Another machine whose skills can be called. */
export class Peer implements WatchedPeer {
  readonly identity: PeerIdentity;
  digest = "";
  skills: readonly ListedSkill[] = [];
  flaws: readonly string[] = [];
  /** Moment of its last message, on the clock of `performance.now`. */
  lastSeen = performance.now();
  /** The reason for which it counts as gone. */
  gone: string | undefined;
  callCount = 0;
  readonly #hub: PeerHub;
  readonly #calls = new Map<string, SentCall>();

  constructor(identity: PeerIdentity, hub: PeerHub) {
    this.identity = identity;
    this.#hub = hub;
  }

  get id(): string {
    return this.identity.id;
  }

  get callsInProgress(): number {
    return this.#calls.size;
  }

  get isBusy(): boolean {
    return this.#calls.size > 0;
  }

  /** Passes on a reply to a call. */
  receive(id: string, message: Msg): void {
    this.lastSeen = performance.now();
    this.#calls.get(id)?.receive(message);
  }

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** Fails all calls in progress. */
  fail(why: string): void {
    for (const call of this.#calls.values()) call.fail(why);
  }

  /** Reads the skills of the machine. Rejects if it does not answer, or sends no valid list. */
  async readListing(timeoutMs: number): Promise<unknown> {
    const id = createId();
    const { subject, text } = { subject: getSubjects(this.identity.device, this.identity.id).catalog, text: id };
    const answer = await this.#exchange({
      id,
      subject,
      body: JSON.stringify({ id }),
      facts: ["catalog", text],
      timeoutMs,
    });
    return parseJson(answer);
  }

  /** Makes a call. Rejects with a `NodeGoneError`, with the error of the method, or with the reason of the signal. */
  async call({ skill, method, input, context }: RemoteCall): Promise<unknown> {
    const { device, id: peerId } = this.identity;
    const { signal, timeoutMs = 60_000 } = context;
    signal.throwIfAborted();
    const path = `${skill}.${method.name}`;
    const body = JSON.stringify({ path, input, caller: context.caller.id, callId: context.callId, timeoutMs });
    const bytes = Buffer.byteLength(body);
    if (bytes > MAX_MESSAGE_BYTES)
      throw new SkillgateError(
        "ARGUMENTS_INVALID",
        sentence("ARGUMENTS_INVALID", `they have ${bytes} bytes, and another machine takes ${MAX_MESSAGE_BYTES}`),
      );
    const id = createId();
    const { connection } = this.#hub;
    const cancel = (): void => {
      if (connection !== undefined && !connection.isClosed())
        connection.publish(getSubjects(device, peerId).cancel, id);
    };
    signal.addEventListener("abort", cancel, { once: true });
    try {
      this.callCount++;
      const subject = getSubjects(device, peerId).call;
      return parseAnswer(await this.#exchange({ id, subject, body, facts: [path, id + body], context }), device);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Sends a message, and returns the text of its result. */
  async #exchange({
    id,
    subject,
    body,
    facts,
    context,
    timeoutMs,
  }: {
    readonly id: string;
    readonly subject: string;
    readonly body: string;
    /** The tool and the text that the signature of the result covers. */
    readonly facts: readonly [tool: string, text: string];
    readonly context?: CallContext;
    readonly timeoutMs?: number;
  }): Promise<string> {
    const { device } = this.identity;
    const { connection, inbox, signatures, onCall } = this.#hub;
    if (connection === undefined) throw createOfflineError();
    if (this.gone !== undefined) throw new NodeGoneError(device, this.gone, false);
    const [tool, text] = facts;
    let resolve: (message: WholeMessage) => void = () => {};
    let reject: (reason: Error) => void = () => {};
    const promise = new Promise<WholeMessage>((onResult, onError) => {
      resolve = onResult;
      reject = onError;
    });
    // The sending may end the call before anything waits for it.
    promise.catch(() => {});
    const reader = new MessageReader();
    let hasBegun = false;
    const fail = (why: string): void => reject(new NodeGoneError(device, why, hasBegun));
    const abort = (): void => reject(context?.signal.reason as Error);
    const timer = timeoutMs === undefined ? undefined : setTimeout(fail, timeoutMs, "does not answer").unref();
    context?.signal.addEventListener("abort", abort, { once: true });
    this.#calls.set(id, {
      fail,
      receive(message) {
        if (message.headers?.code === 503) return fail("is not connected any more");
        const kind = message.headers?.get(KIND);
        if (kind === "begun") hasBegun = true;
        else if (kind === "result") {
          hasBegun = true;
          const whole = reader.add(message);
          if (whole?.id === id) resolve(whole);
        } else if (context !== undefined) passOn(kind, parseMessage(message.data), context);
      },
    });
    onCall();
    try {
      const fields = { ...injectContext(), ...signatures.sign(createFacts(device, tool, text)) };
      await sendMessage(connection, {
        subject,
        reply: `${inbox}.${id}`,
        id,
        bytes: Buffer.from(body),
        headers: fields,
      });
      const { bytes, headers: head } = await promise;
      const answer = Buffer.from(bytes).toString("utf8");
      await signatures.verify(createFacts(device, tool, text, answer), head.get(SIGNATURE), device);
      return answer;
    } finally {
      clearTimeout(timer);
      context?.signal.removeEventListener("abort", abort);
      this.#calls.delete(id);
    }
  }
}

export function createOfflineError(): SkillgateError {
  return new SkillgateError(
    "NODES_OFFLINE",
    sentence("NODES_OFFLINE", "there is no connection to the NATS server; it is tried again"),
  );
}

function createId(): string {
  return randomBytes(16).toString("hex");
}

const MAX_TEXT_UNITS = 8_000;
const LEVELS: ReadonlySet<unknown> = new Set(["debug", "info", "warn", "error"]);

/** Passes on what a method says while it runs. */
function passOn(kind: string | undefined, body: unknown, context: CallContext): void {
  if (!isRecord(body)) return;
  const { level, text, done, total, notes } = body;
  const says = typeof text === "string" ? truncateText(text, MAX_TEXT_UNITS) : undefined;
  if (kind === "log" && LEVELS.has(level) && says !== undefined) context.log(level as LogLevel, says);
  if (kind === "progress" && Number.isFinite(done))
    context.progress(done as number, Number.isFinite(total) ? (total as number) : undefined, says);
  if (kind === "note" && Array.isArray(notes))
    for (const note of notes.slice(0, 20)) if (typeof note === "string") context.addNote?.(truncateText(note, 1_000));
}

function parseAnswer(text: string, device: string): unknown {
  const answer = parseJson(text);
  if (isRecord(answer) && Object.hasOwn(answer, "value")) return answer["value"];
  const error = isRecord(answer) ? answer["error"] : undefined;
  const { code, message, retryAfterSeconds } = isRecord(error) ? error : {};
  if (typeof message !== "string") {
    const says = `the answer of "${device}" has neither a value nor an error`;
    throw new SkillgateError("NODE_ANSWER_INVALID", sentence("NODE_ANSWER_INVALID", says), { device });
  }
  const says = `${device}: ${truncateText(message, MAX_TEXT_UNITS)}`;
  const errorCode = [...REMOTE_CODES].find((remote) => remote === code);
  const retry = Number.isFinite(retryAfterSeconds) ? { retryAfterSeconds: Math.max(0, Number(retryAfterSeconds)) } : {};
  if (errorCode !== undefined) throw new SkillgateError(errorCode, says, { device, ...retry });
  throw new Error(says);
}
