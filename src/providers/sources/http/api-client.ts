import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { setTimeout as wait } from "node:timers/promises";

import { createError, getMessage, SkillgateError } from "../../../errors.ts";
import type { Credential } from "../../../model/account.ts";
import { isRecord } from "../../../model/json.ts";
import { DEFAULT_LIMITS } from "../../../model/limits.ts";
import type { CallContext } from "../../../model/skill.ts";
import { AddressRefused, type AllowedAddresses } from "../../../shared/http/guarded-lookup.ts";
import { trimCharacters } from "../../../shared/format-text.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import { VERSION } from "../../../shared/version.ts";
import { addHeaders, addQuery, createCredentialMask, listBodyFields } from "../../../shared/http/add-credential.ts";
import type { ApiRequest } from "./api-request.ts";
import {
  ACCEPT_ENCODING,
  type Answer,
  AnswerTimeout,
  exchange,
  type WireRequest,
} from "../../../shared/http/exchange.ts";
import { getHeader, getRetryAfterMs, selectHeaders } from "../../../shared/http/headers.ts";
import { findEncryptionFlaw } from "../../../shared/http/find-encryption-flaw.ts";
import type { RequestAccount } from "../../../shared/http/request-account.ts";
import { createHttpError, createRateLimitError } from "./http-error.ts";
import { RateLimits } from "./rate-limits.ts";
import { type AddNote, type AnswerLimits, readAnswer, readErrorBody } from "./read-answer.ts";
import { BodyStalled } from "../../../shared/http/read-body.ts";
import { Turns } from "./turns.ts";

/** The limits of a client, with those that a client has by default. */
export interface ApiLimits extends AnswerLimits {
  /** The longest time until the headers of an answer. */
  readonly headersMs: number;
  /** Requests that are under way together. */
  readonly requests: number;
}

const DEFAULT_API_LIMITS: ApiLimits = {
  headersMs: 30_000,
  stallMs: 30_000,
  maxBytes: DEFAULT_LIMITS.answerBytes,
  eventsBytes: 1 << 20,
  eventsMs: 10_000,
  requests: 8,
};

export interface ApiClientOptions {
  /** The address of the API. Its scheme, host and port get all requests; its path precedes the path of each. */
  readonly server: string;
  /** Headers of each request, such as those with credentials, which an argument never replaces. */
  readonly headers?: (() => Promise<Readonly<Record<string, string>>>) | undefined;
  /** The owner has allowed an address of a private network. */
  readonly allowsPrivate?: boolean;
  /** Repeats requests that only read, and those with a key, after a transient failure; true by default. */
  readonly repeats?: boolean;
  /** The header with a key by which the API recognizes a request that is repeated. */
  readonly idempotencyHeader?: string | undefined;
  readonly limits?: Partial<ApiLimits>;
}

/** The parts of the context of a call that a request needs. */
export type ApiCallContext = Pick<CallContext, "callId" | "signal"> &
  Partial<Pick<CallContext, "timeoutMs" | "addNote">>;

export interface ApiSendOptions {
  /** The operation has no effect, so it can be repeated. */
  readonly isRead: boolean;
  /** Returns `{ status, headers, body }` instead of the body. */
  readonly includeResponse?: boolean;
  readonly account?: RequestAccount | undefined;
}

/** Sends requests to one API. */
export interface ApiClient {
  /**
   * Returns the value of the answer. Rejects with a `SkillgateError` that says what the API has answered, or with the reason of the signal.
   */
  send(request: ApiRequest, context: ApiCallContext, options: ApiSendOptions): Promise<unknown>;
  /** Closes the connections that wait for requests. */
  close(): void;
}

export function createApiClient(options: ApiClientOptions): ApiClient {
  return new HttpApiClient(options);
}

/** The pause before a request is repeated, if the API names none. */
const PAUSE_MS = 300;

/** The longest time that a call without a limit waits for its API. */
const MAX_WAIT_MS = 60_000;

/** A server closes a connection that waits for a request usually after five seconds. */
const IDLE_MS = 4_000;

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Statuses of an API that is busy or away for a moment. */
const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Codes of connections that broke off. */
const RESETS: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "ERR_STREAM_PREMATURE_CLOSE"]);

/** A request with all that is decided before its first attempt. */
interface PreparedRequest extends WireRequest {
  readonly operation: string;
  /** The path alone, for errors: a query may hold what a message must not show. */
  readonly path: string;
  readonly mayRepeat: boolean;
  readonly account: RequestAccount | undefined;
  /** A credential that was renewed is tried once. */
  readonly isRenewed: boolean;
  readonly credential: Credential;
  /** The texts of the credential, which an API may send back. */
  readonly secrets: KnownSecrets;
  readonly includeResponse: boolean;
  readonly addNote: AddNote;
  readonly signal: AbortSignal;
  readonly getTimeLeft: () => number;
}

/** An attempt that failed for a moment. */
class TransientFailure extends Error {
  readonly error: SkillgateError;
  readonly pauseMs: number;

  constructor(error: SkillgateError, pauseMs = PAUSE_MS) {
    super(error.message);
    this.error = error;
    this.pauseMs = pauseMs;
  }
}

/** The credential of a request was refused, and there is another one. */
class CredentialRenewed extends Error {
  readonly credential: Credential;

  constructor(credential: Credential) {
    super("The credential was renewed");
    this.credential = credential;
  }
}

class HttpApiClient implements ApiClient {
  readonly #options: ApiClientOptions;
  readonly #server: URL;
  readonly #limits: ApiLimits;
  readonly #agent: HttpAgent;
  readonly #turns: Turns;
  readonly #rateLimits = new RateLimits();

  constructor(options: ApiClientOptions) {
    this.#options = options;
    this.#server = parseServer(options.server);
    this.#limits = { ...DEFAULT_API_LIMITS, ...options.limits };
    this.#turns = new Turns(this.#limits.requests);
    const agentOptions = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: this.#limits.requests };
    this.#agent = this.#server.protocol === "https:" ? new HttpsAgent(agentOptions) : new HttpAgent(agentOptions);
  }

  close(): void {
    this.#agent.destroy();
  }

  async send(request: ApiRequest, context: ApiCallContext, options: ApiSendOptions): Promise<unknown> {
    let prepared = await this.#prepare(request, context, options);
    for (let attempts = 1; ; attempts++) {
      try {
        return await this.#attempt(prepared);
      } catch (thrown) {
        prepared.signal.throwIfAborted();
        if (thrown instanceof CredentialRenewed) {
          prepared = await this.#prepare(request, context, { ...options, renewed: thrown.credential });
          continue;
        }
        const isLast = attempts > 1 || !prepared.mayRepeat || !(thrown instanceof TransientFailure);
        if (isLast || thrown.pauseMs >= prepared.getTimeLeft()) throw withAttempts(thrown, attempts);
        await wait(thrown.pauseMs, undefined, { signal: prepared.signal }).catch(() => {});
        prepared.signal.throwIfAborted();
      }
    }
  }

  async #prepare(
    plain: ApiRequest,
    context: ApiCallContext,
    { renewed, ...options }: ApiSendOptions & { readonly renewed?: Credential },
  ): Promise<PreparedRequest> {
    const { idempotencyHeader, repeats = true } = this.#options;
    this.#requireEncryption(options.account);
    const credential = renewed ?? options.account?.credential ?? [];
    const request = addBodyFields(plain, credential);
    const { method, operation, target, body } = request;
    const key = options.isRead ? undefined : idempotencyHeader?.toLowerCase();
    const headers = {
      "user-agent": `skillgate/${VERSION}`,
      ...request.headers,
      // An empty one would let a write be repeated without a key.
      ...(key !== undefined && { [key]: request.headers[key]?.trim() || context.callId }),
      ...toLowerCase((await this.#options.headers?.()) ?? {}),
      "accept-encoding": ACCEPT_ENCODING,
      host: this.#server.host,
    };
    const end = performance.now() + (context.timeoutMs ?? MAX_WAIT_MS);
    const base = trimCharacters(this.#server.pathname, "/");
    return {
      method,
      operation,
      target: `${base}${target}`,
      account: options.account,
      isRenewed: renewed !== undefined,
      credential,
      secrets: createCredentialMask(credential),
      path: target.split("?", 1)[0] ?? "",
      headers: addHeaders(headers, credential),
      ...(body !== undefined && { body }),
      mayRepeat: repeats && (options.isRead || key !== undefined),
      includeResponse: options.includeResponse === true,
      addNote: (text) => context.addNote?.(`The result of ${operation} ${text}`),
      signal: context.signal,
      getTimeLeft: () => end - performance.now(),
    };
  }

  /** The server of a source in a private network is one of its accounts, too. */
  #requireEncryption(opened: RequestAccount | undefined): void {
    if (opened === undefined) return;
    const { name, isPrivate } = opened.account;
    const reach = { name, isPrivate: isPrivate || this.#options.allowsPrivate === true };
    const flaw = findEncryptionFlaw(this.#server, reach);
    if (flaw !== undefined) throw createError("ACCOUNT_UNAVAILABLE", flaw);
  }

  async #attempt(request: PreparedRequest): Promise<unknown> {
    const { method, path, signal, secrets } = request;
    const httpRequest = { httpMethod: method, path };
    const pauseMs = await this.#rateLimits.take(request, request.getTimeLeft, signal);
    if (pauseMs !== undefined) throw createRateLimitError(httpRequest, pauseMs);
    const endTurn = await this.#turns.take(signal);
    try {
      const answer = await this.#exchange(request);
      this.#rateLimits.note(request, answer.status, answer.headers);
      if (answer.status >= 200 && answer.status < 300) return await this.#read(answer, request);
      const body = method === "HEAD" ? undefined : await readErrorBody(answer, this.#limits);
      answer.body.destroy();
      const advice = await adviseRefused(request, answer);
      const masked = {
        status: answer.status,
        headers: secrets.maskValue(answer.headers),
        body: secrets.maskValue(body),
      };
      const error = createHttpError(httpRequest, masked, advice);
      throw TRANSIENT.has(answer.status) ? new TransientFailure(error, getRetryAfterMs(answer.headers)) : error;
    } catch (thrown) {
      throw thrown instanceof CredentialRenewed ? thrown : explain(thrown, this.#server);
    } finally {
      endTurn();
    }
  }

  /** Sends a request, and follows the redirects of one that reads, on the same server. */
  async #exchange(request: PreparedRequest): Promise<Answer> {
    const { method, signal, mayRepeat } = request;
    const reach: AllowedAddresses = this.#options.allowsPrivate === true ? "private" : "public";
    // A server may close a connection just when a request begins; a request that cannot be repeated has a new one.
    const agent = mayRepeat ? this.#agent : (false as const);
    const options = { server: this.#server, reach, agent, headersMs: this.#limits.headersMs, signal };
    let target = request.target;
    for (let count = 0; ; count++) {
      const answer = await exchange({ ...request, target: addQuery(target, request.credential) }, options);
      if (!REDIRECTS.has(answer.status) || (method !== "GET" && method !== "HEAD")) return answer;
      const next = this.#resolve(target, getHeader(answer.headers, "location"));
      if (next === undefined || count === MAX_REDIRECTS) return answer;
      answer.body.destroy();
      target = next;
    }
  }

  /** Returns the path of a redirect; `undefined` if it leads to another server. */
  #resolve(target: string, location: string | undefined): string | undefined {
    const from = `${this.#server.origin}${target}`;
    if (location === undefined || !URL.canParse(location, from)) return undefined;
    const url = new URL(location, from);
    return url.origin === this.#server.origin ? `${url.pathname}${url.search}` : undefined;
  }

  async #read(answer: Answer, { method, includeResponse, addNote, secrets }: PreparedRequest): Promise<unknown> {
    const { status, headers } = answer;
    const isEmpty = method === "HEAD" || status === 204 || status === 205;
    if (isEmpty) answer.body.resume();
    const body = isEmpty ? null : await readAnswer(answer, this.#limits, addNote);
    return secrets.maskValue(includeResponse ? { status, headers: selectHeaders(headers), body } : body);
  }
}

function addBodyFields(request: ApiRequest, credential: Credential): ApiRequest {
  const fields = listBodyFields(credential);
  if (fields.size === 0) return request;
  if (request.withFields !== undefined) return request.withFields(fields);
  const says = `${request.operation} has no body, and its account puts the credential into the body`;
  throw createError("CALL_FAILED", says);
}

/**
 * Says what to do if an answer does not accept the credential of the account; `undefined` for other answers. Throws `CredentialRenewed` if
 * the request can be made again with another one.
 */
async function adviseRefused(
  { account, mayRepeat, isRenewed }: PreparedRequest,
  { status, headers }: Pick<Answer, "status" | "headers">,
): Promise<string | undefined> {
  if (account === undefined || (status !== 401 && status !== 403)) return undefined;
  const challenge = getHeader(headers, "www-authenticate");
  const refusal = { status, ...(challenge !== undefined && { challenge }) };
  const renewed = isRenewed ? undefined : await account.renew(refusal);
  if (renewed === undefined) return status === 401 ? account.advice : undefined;
  if (mayRepeat) throw new CredentialRenewed(renewed);
  return `The service did not accept the credential of the account ${account.title}, which is renewed now: make the call again`;
}

/** Reads the address of an API; only its origin and its path count. */
function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && `${url.username}${url.password}` !== "")
    throw createError("OPTION_INVALID", "a server with a password; write it as a header");
  if (url?.protocol === "https:" || url?.protocol === "http:") return url;
  const says = `the server ${JSON.stringify(text)}; write an address such as https://api.example.com/v1`;
  throw createError("OPTION_INVALID", says);
}

function toLowerCase(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns the error with the number of attempts; the router makes no more of them. */
function withAttempts(thrown: unknown, attempts: number): unknown {
  const error = thrown instanceof TransientFailure ? thrown.error : thrown;
  if (!(error instanceof SkillgateError)) return error;
  return new SkillgateError(error.code, error.message, { ...error.facts, attempts }, { cause: error.cause });
}

/** Returns the error for a request without an answer; the errors of answers stay as they are. */
function explain(thrown: unknown, { host }: URL): unknown {
  if (thrown instanceof SkillgateError || thrown instanceof TransientFailure) return thrown;
  if (thrown instanceof AddressRefused) return createError("CALL_FAILED", thrown.message, {}, { cause: thrown });
  if (thrown instanceof AnswerTimeout || thrown instanceof BodyStalled) {
    const says = thrown instanceof AnswerTimeout ? thrown.message : `the answer of ${host} stopped: ${thrown.message}`;
    return createError("CALL_TIMEOUT", says, {}, { cause: thrown });
  }
  const code = isRecord(thrown) ? thrown["code"] : undefined;
  const reason = typeof code === "string" ? code : getMessage(thrown);
  if (RESETS.has(code)) {
    const says = `${host} closed the connection before its answer was complete (${reason})`;
    return new TransientFailure(createError("CALL_FAILED", says, {}, { cause: thrown }));
  }
  if (code === "ECONNREFUSED" || code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EHOSTUNREACH")
    return createError("SERVER_GONE", `${host} cannot be reached (${reason})`, {}, { cause: thrown });
  const says = `the request to ${host} failed (${reason})`;
  return createError("CALL_FAILED", says, {}, { cause: thrown });
}
