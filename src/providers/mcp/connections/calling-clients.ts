import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/client";

import { APPS_EXTENSION, type Client, type ClientRequest } from "../../../model/client-requests.ts";
import { isRecord } from "../../../model/json.ts";
import type { RequestContext } from "../../../model/skill.ts";

/** The member of `_meta` with the number of the call that sends a request. It is removed before the request is sent. */
const CALL = "skillgate/call";

/** The requests that a server may send, by the capability that announces them. */
const CAPABILITIES: readonly (readonly [ClientRequest, ClientCapabilities])[] = [
  ["elicitation/create", { elicitation: { form: { applyDefaults: true }, url: {} } }],
  ["sampling/createMessage", { sampling: {} }],
  ["roots/list", { roots: {} }],
];

/** The requests that the SDK handles, and their capabilities. */
export const ALL_REQUESTS = CAPABILITIES.map(([request]) => request);
export const ALL_CAPABILITIES = getCapabilities({ can: () => true });

type Message = Readonly<Record<string, unknown>>;

/** Answers requests for input by their keys. */
export type AnswerInputs = (requests: Message) => Promise<Message>;

/** A call waits for the task that a server creates in place of a result. */
const TASKS: AnnouncedExtensions = { "io.modelcontextprotocol/tasks": {} };

/** AnnouncedExtensions of the protocol with their settings, by their identifiers. */
export type AnnouncedExtensions = NonNullable<ClientCapabilities["extensions"]>;

/**
 * The clients of the calls on one connection. Since 2026-07-28, each request has the capabilities of its caller, and a
 * request of the server is part of the result of a call, so it reaches exactly the client of that call. Before, the
 * connection as a whole has the capabilities of one client, which is asked.
 */
export class CallingClients {
  readonly #client: Client | undefined;
  readonly #extensions: AnnouncedExtensions;
  /** Calls under way, by their numbers; the requests without a call have the number 0. */
  readonly #calls = new Map<number, RequestContext>();
  /** The numbers of calls, by the ids of their open requests as text. */
  readonly #requests = new Map<string, number>();
  #lastCall = 0;

  /** `client` answers requests that belong to no call, and all requests before 2026-07-28; `extensions` are announced for every call. */
  constructor(client: Client | undefined, extensions: AnnouncedExtensions = {}) {
    this.#client = client;
    this.#extensions = extensions;
  }

  /** Registers a call while its requests are sent with the given fields of `_meta`. */
  async trackDuring<Result>(
    context: RequestContext,
    call: (meta: Readonly<Record<string, string>>, answer: AnswerInputs) => Promise<Result>,
  ): Promise<Result> {
    const number = ++this.#lastCall;
    this.#calls.set(number, context);
    try {
      return await call({ [CALL]: String(number) }, (requests) => this.#answerInputs(number, requests));
    } finally {
      this.#calls.delete(number);
      for (const [id, each] of this.#requests) if (each === number) this.#requests.delete(id);
    }
  }

  /** Returns an outgoing message with the capabilities of its caller, and with the keys that the server has chosen. */
  toOutgoing(message: JSONRPCMessage): JSONRPCMessage {
    if (!("method" in message) || !isRecord(message.params)) return message;
    const { params } = message;
    if (message.method === "initialize")
      return { ...message, params: { ...params, capabilities: getCapabilities(this.#client, this.#extensions) } };
    const { [CALL]: call, ...meta } = isRecord(params["_meta"]) ? params["_meta"] : {};
    const isModern = Object.hasOwn(meta, CLIENT_CAPABILITIES_META_KEY);
    if (call === undefined && !isModern) return message;
    const number = Number(call ?? 0);
    if ("id" in message) this.#requests.set(String(message.id), number);
    if (isModern)
      meta[CLIENT_CAPABILITIES_META_KEY] = getCapabilities(this.#findClient(number), { ...TASKS, ...this.#extensions });
    const { _meta, inputResponses, ...rest } = params;
    const responses = isRecord(inputResponses) ? { inputResponses: mapKeys(inputResponses, removeNumber) } : {};
    const fields = Object.keys(meta).length > 0 ? { _meta: meta } : {};
    return { ...message, params: { ...rest, ...responses, ...fields } };
  }

  /** Returns a result whose requests for input have the number of the call that they belong to. */
  toIncoming(id: unknown, result: Message): Message {
    const number = this.#requests.get(String(id)) ?? 0;
    this.#requests.delete(String(id));
    const { inputRequests } = result;
    if (!isRecord(inputRequests)) return result;
    return { ...result, inputRequests: mapKeys(inputRequests, (key) => `${number}:${key}`) };
  }

  /** Asks the client of the call that a request belongs to, by the key of the request. */
  async ask(request: ClientRequest, params: Message, key: string, isModern: boolean): Promise<unknown> {
    const number = isModern ? Number(/^\d+/.exec(key)?.[0] ?? 0) : 0;
    const client = this.#findClient(number);
    if (client?.can(request) !== true) throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "Method not found");
    const answer = client.ask(request, params, isModern ? removeNumber(key) : key);
    // A failure is reported to the server.
    void this.#calls
      .get(number)
      ?.pauseTimeoutFor?.(answer)
      .catch(() => {});
    return answer;
  }

  /** Answers the requests for input of a task; the keys of the answers have the number of the call, as those of the SDK. */
  async #answerInputs(number: number, requests: Message): Promise<Message> {
    const answers = Object.entries(requests).map(async ([key, request]) => {
      const { method, params } = isRecord(request) ? request : {};
      const question = ALL_REQUESTS.find((each) => each === method);
      if (question === undefined) throw new Error(`a task asks for ${JSON.stringify(method)}, which no client answers`);
      return [`${number}:${key}`, await this.ask(question, isRecord(params) ? params : {}, `${number}:${key}`, true)];
    });
    return Object.fromEntries((await Promise.all(answers)) as [string, unknown][]);
  }

  #findClient(number: number): Client | undefined {
    return number === 0 ? this.#client : this.#calls.get(number)?.client;
  }
}

/** Returns the capabilities that announce the requests which a client can answer, the apps that it shows, and other extensions. */
function getCapabilities(
  client: Pick<Client, "can" | "apps"> | undefined,
  others: AnnouncedExtensions = {},
): ClientCapabilities {
  const announced = CAPABILITIES.filter(([request]) => client?.can(request) === true);
  const extensions = { ...others, ...(client?.apps && { [APPS_EXTENSION]: client.apps }) };
  const extra = Object.keys(extensions).length > 0 ? { extensions } : {};
  return Object.assign({}, ...announced.map(([, capability]) => capability), extra) as ClientCapabilities;
}

function removeNumber(key: string): string {
  return key.slice(key.indexOf(":") + 1);
}

function mapKeys(record: Message, change: (key: string) => string): Message {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [change(key), value]));
}
