import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { isRecord } from "../../../model/json.ts";
import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import {
  EarlyAnswers,
  type GetOpeningTexts,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  parseRequest,
} from "../../mcp/opening/index.ts";

/** Maximum number of sessions that are begun early. */
const MAX_SESSIONS = 64;

/** An answer to a message of a client. */
export interface EarlyAnswer {
  readonly status: 200 | 202;
  readonly headers: Readonly<Record<string, string>>;
  /** Serialized JSON; absent for a notification. */
  readonly json?: string;
  /** True for the list of tools, after which a client calls. */
  readonly isList: boolean;
}

/** A client that was answered. The complete server reads the messages of a session again. */
export interface AnsweredClient {
  readonly clientName: string;
  /** The id of its session; absent for a client of the 2026 protocol. */
  readonly sessionId?: string;
  readonly messages: readonly unknown[];
  /** The list of tools that it was sent; `undefined` if it has not asked for one. */
  readonly tools: readonly ToolDefinition[] | undefined;
}

interface EarlySession {
  readonly answers: EarlyAnswers;
  readonly clientName: string;
  readonly messages: unknown[];
  tools: readonly ToolDefinition[] | undefined;
}

/**
 * Answers the first messages that clients send to `/mcp`: `initialize` or `server/discover`, `notifications/initialized`
 * and `tools/list`. Every other message has no answer here, and neither has one that is not exactly of the usual form.
 */
export class EarlyMcp {
  readonly #getTexts: GetOpeningTexts;
  readonly #maxSessions: number;
  readonly #sessions = new Map<string, EarlySession>();
  /** The lists that clients of the 2026 protocol were sent, by the name of the client. */
  readonly #lists = new Map<string, readonly ToolDefinition[]>();

  constructor(getTexts: GetOpeningTexts, maxSessions: number) {
    this.#getTexts = getTexts;
    this.#maxSessions = Math.min(maxSessions, MAX_SESSIONS);
  }

  get clients(): readonly AnsweredClient[] {
    const sessions = [...this.#sessions].map(([sessionId, session]) => ({ sessionId, ...session }));
    return [...sessions, ...[...this.#lists].map(([clientName, tools]) => ({ clientName, messages: [], tools }))];
  }

  answer(headers: IncomingHttpHeaders, message: unknown): EarlyAnswer | undefined {
    if (!isRecord(message) || !Object.keys(message).every((name) => MEMBERS.has(name))) return undefined;
    const { "mcp-session-id": sessionId, "mcp-protocol-version": version = LEGACY_VERSIONS[0] } = headers;
    if (version === MODERN_VERSION) return sessionId === undefined ? this.#answerModern(headers, message) : undefined;
    if (typeof version !== "string" || !LEGACY_VERSIONS.includes(version)) return undefined;
    if (sessionId === undefined) return this.#begin(message);
    const session = typeof sessionId === "string" ? this.#sessions.get(sessionId) : undefined;
    return session && this.#continue(session, message);
  }

  /** Begins a session. */
  #begin(message: ClientMessage): EarlyAnswer | undefined {
    const request = parseRequest(message);
    if (request === undefined || this.#sessions.size >= this.#maxSessions) return undefined;
    const answers = new EarlyAnswers(this.#getTexts);
    const answer = answers.answer(request.method, request.params);
    if (answer?.isHandshake !== true) return undefined;
    const sessionId = randomUUID();
    this.#sessions.set(sessionId, { answers, clientName: answer.clientName, messages: [message], tools: undefined });
    return respond(request.id, answer.result, { headers: { "mcp-session-id": sessionId } });
  }

  #continue(session: EarlySession, message: ClientMessage): EarlyAnswer | undefined {
    if (message["method"] === "notifications/initialized" && message["id"] === undefined) {
      if (session.messages.length > 1) return undefined;
      session.messages.push(message);
      return { status: 202, headers: {}, isList: false };
    }
    const request = parseRequest(message);
    if (request?.method !== "tools/list") return undefined;
    const answer = session.answers.answer(request.method, request.params);
    if (answer?.tools === undefined) return undefined;
    session.tools = answer.tools;
    return respond(request.id, answer.result, { isList: true });
  }

  /** Answers a request of the 2026 protocol, whose headers repeat its version and its method. */
  #answerModern(headers: IncomingHttpHeaders, message: ClientMessage): EarlyAnswer | undefined {
    const request = parseRequest(message);
    if (request === undefined || headers["mcp-method"] !== request.method || headers["mcp-name"] !== undefined)
      return undefined;
    const answer = new EarlyAnswers(this.#getTexts).answer(request.method, request.params);
    if (answer === undefined || answer.isHandshake === true) return undefined;
    if (answer.tools !== undefined && this.#lists.size < MAX_SESSIONS) this.#lists.set(answer.clientName, answer.tools);
    return respond(request.id, answer.result, { isList: answer.tools !== undefined });
  }
}

type ClientMessage = Readonly<Record<string, unknown>>;

/** The members of a JSON-RPC request. */
const MEMBERS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

function respond(
  id: string | number,
  result: object,
  { headers = {}, isList = false }: { readonly headers?: EarlyAnswer["headers"]; readonly isList?: boolean },
): EarlyAnswer {
  const json = JSON.stringify({ jsonrpc: "2.0", id, result });
  return { status: 200, headers: { "content-type": "application/json", ...headers }, json, isList };
}
