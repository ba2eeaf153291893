import { setTimeout as wait } from "node:timers/promises";

import { SkillgateError } from "../../../../errors.ts";
import type { CallContext } from "../../../../model/skill.ts";
import type { QueryRequests } from "../../../../model/tools/source-requests.ts";
import { getRetryAfterMs } from "../../../../shared/http/headers.ts";
import type { RequestAccount } from "../../../../shared/http/request-account.ts";
import type { ApiClient } from "../../http/api-client.ts";
import type { ApiRequest } from "../../http/api-request.ts";
import type { ApiResponse } from "../../pages/next-page.ts";
import { type QueryAnswer, hasData, parseBody } from "./graph-answer.ts";
import { isRateLimit, isUnauthenticated, refuseBody } from "./graph-error.ts";
import { buildGet, buildPost, type GraphRequest, type DocumentForm } from "./graph-request.ts";

export interface GraphSenderOptions {
  /** Sends requests to the origin of the endpoint. */
  readonly client: ApiClient;
  readonly endpoint: URL;
  readonly requests: QueryRequests;
}

interface SentDocument extends Omit<GraphRequest, "endpoint"> {
  readonly kind: "query" | "mutation";
}

interface GraphSendOptions {
  readonly context: CallContext;
  /** No selected field has an effect, so the request can be repeated. */
  readonly isRead: boolean;
  readonly account: RequestAccount | undefined;
}

/** The longest time that a call without a limit waits for its API. */
const MAX_WAIT_MS = 60_000;

/** Sends documents to the endpoint of a GraphQL API. */
export class GraphSender {
  readonly #options: GraphSenderOptions;
  /** The server has said that it takes no digests. */
  #refusesDigests = false;

  constructor(options: GraphSenderOptions) {
    this.#options = options;
  }

  /** Returns the answer, also one that has errors. Rejects as `ApiClient.send`, and for an answer that is no GraphQL. */
  async send(document: SentDocument, options: GraphSendOptions): Promise<QueryAnswer> {
    const startedAt = performance.now();
    const answer = await this.#sendInForm(document, options);
    if (isUnauthenticated(answer) && options.account !== undefined)
      return this.#sendRenewed(answer, { document, options, account: options.account });
    const { isRead, context } = options;
    const pauseMs = isRead && isRateLimit(answer) ? getRetryAfterMs(answer.response.headers) : undefined;
    const leftMs = (context.timeoutMs ?? MAX_WAIT_MS) - (performance.now() - startedAt);
    if (pauseMs === undefined || pauseMs >= leftMs) return answer;
    await wait(pauseMs, undefined, { signal: context.signal }).catch(() => {});
    context.signal.throwIfAborted();
    return this.#sendInForm(document, options);
  }

  /** Renews a credential that the API has refused with a status of success, and sends a query again. */
  async #sendRenewed(
    answer: QueryAnswer,
    { document, options, account }: { document: SentDocument; options: GraphSendOptions; account: RequestAccount },
  ): Promise<QueryAnswer> {
    const credential = await account.renew({ status: 401 });
    if (credential === undefined) return { ...answer, advice: account.advice };
    if (options.isRead) {
      const again = await this.#sendInForm(document, { ...options, account: { ...account, credential } });
      return isUnauthenticated(again) ? { ...again, advice: account.advice } : again;
    }
    const advice = `The service did not accept the credential of the account ${account.title}, which is renewed now: make the call again`;
    return { ...answer, advice };
  }

  async #sendInForm({ kind, ...document }: SentDocument, options: GraphSendOptions): Promise<QueryAnswer> {
    const { endpoint, requests } = this.#options;
    const request = { ...document, endpoint };
    const post = (form: DocumentForm): Promise<QueryAnswer> => this.#exchange(buildPost(request, form), options);
    const isPlain = kind === "mutation" || document.files.length > 0 || !options.isRead;
    const get = !isPlain && requests === "get" ? buildGet(request) : undefined;
    if (get !== undefined) return this.#exchange(get, options);
    if (isPlain || requests !== "persisted" || this.#refusesDigests) return post("text");
    const answer = await post("digest");
    if (hasData(answer) || wasRead(answer)) return answer;
    if (isDigestUnknown(answer)) return post("both");
    const whole = await post("text");
    this.#refusesDigests = hasData(whole);
    return whole;
  }

  async #exchange(request: ApiRequest, { context, isRead, account }: GraphSendOptions): Promise<QueryAnswer> {
    const { client, endpoint } = this.#options;
    const facts = { httpMethod: request.method, path: endpoint.pathname };
    let response: ApiResponse;
    let failure: SkillgateError | undefined;
    try {
      response = (await client.send(request, context, { isRead, includeResponse: true, account })) as ApiResponse;
    } catch (error) {
      const http = error instanceof SkillgateError ? error.facts.serverError?.http : undefined;
      if (http === undefined || parseBody(http.body) === undefined) throw error;
      failure = error as SkillgateError;
      response = { status: http.status, headers: {}, body: http.body };
    }
    const parsed = parseBody(response.body);
    if (parsed === undefined) throw refuseBody(facts.httpMethod, facts.path, response);
    return { ...parsed, response, request: facts, ...(failure !== undefined && { failure }) };
  }
}

/** True if an error is about a field, or about the client: a server that takes no digests misses the text before that. */
function wasRead(answer: QueryAnswer): boolean {
  const { errors, response } = answer;
  const isAboutClient = isRateLimit(answer) || isUnauthenticated(answer) || [401, 403, 429].includes(response.status);
  return isAboutClient || response.status >= 500 || errors.some(({ path }) => path !== "");
}

function isDigestUnknown({ errors }: QueryAnswer): boolean {
  return errors.some(({ message, code }) => /persisted_?query_?not_?found/i.test(`${code} ${message}`));
}
