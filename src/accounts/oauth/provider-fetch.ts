import { getMessage } from "../../errors.ts";
import { parseJsonObject, toRecord } from "../../model/json.ts";
import { truncateText } from "../../shared/format-text.ts";
import { guardedFetch } from "../../shared/http/guarded-fetch.ts";
import { AddressRefused, type AllowedAddresses } from "../../shared/http/guarded-lookup.ts";
import { KnownSecrets } from "../../shared/secrets.ts";
import { toVisibleLine } from "../../shared/visible-text.ts";
import { OAuthFailure } from "./failure.ts";

/** The claim of a process on a renewal lasts longer, so that an answer in time belongs to the process that has asked. */
export const REQUEST_MS = 20_000;

/** Maximum number of characters of an error of a provider. */
const MAX_CHARACTERS = 300;

/** The member that an answer with tokens gets for the user at the provider. */
export const USER = "skillgate_user";

export interface ProviderFetchOptions {
  readonly reach: AllowedAddresses;
  /** The origins in the owner's network that the settings have with `http:`; requests to others are encrypted. */
  readonly plainOrigins: ReadonlySet<string>;
  readonly clientSecret: string | undefined;
}

/** A `fetch` as `oauth4webapi` calls it. */
export type ProviderFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body: URLSearchParams | undefined;
  },
) => Promise<Response>;

/**
 * Creates the `fetch` for the endpoints of a provider. It follows no redirect, because requests have secrets; rejects with an
 * `OAuthFailure` for every answer that is an error; and gives answers that differ from the standard its form.
 */
export function createProviderFetch({ reach, plainOrigins, clientSecret }: ProviderFetchOptions): ProviderFetch {
  const send = guardedFetch(reach);
  return async (input, init) => {
    const url = new URL(input);
    requireEncryption(url, plainOrigins);
    const secrets = new KnownSecrets([
      clientSecret ?? "",
      ...(init.headers["authorization"] ?? "").split(" ").slice(1), // the encoded secret
      ...SECRET_PARAMETERS.map((name) => init.body?.get(name) ?? ""),
    ]);
    const clean = (text: string): string => toVisibleLine(truncateText(secrets.mask(text), MAX_CHARACTERS));
    try {
      const { method, headers, body: sent = null } = init;
      const response = await send(url, { method, headers, body: sent, signal: AbortSignal.timeout(REQUEST_MS) });
      const object = parseJsonObject(await response.text());
      const body = object ?? {};
      requireSuccess(url, response, body, clean);
      const isRevocation = sent?.has("token") === true; // its answer has no content
      if (object === undefined && !isRevocation) throw createOtherContent(url, response, clean);
      return Response.json(typeof body["access_token"] === "string" ? normalize(body) : body);
    } catch (error) {
      throw toFailure(error, url, clean);
    }
  };
}

/** The parameters of requests whose values an error must not repeat. */
const SECRET_PARAMETERS = ["code", "code_verifier", "refresh_token", "token", "device_code"];

/** Requires an https address, or one that needs no encryption. */
export function requireEncryption(url: URL, plainOrigins: ReadonlySet<string>): void {
  if (url.protocol === "https:" || (url.protocol === "http:" && plainOrigins.has(url.origin))) return;
  throw new OAuthFailure(
    "invalid",
    `${url.protocol}//${url.host} is not an https address, and secrets are sent only encrypted`,
  );
}

function createOtherContent({ host, pathname }: URL, { headers }: Response, clean: (text: string) => string): Error {
  const type = clean(headers.get("content-type") ?? "");
  const content = type === "" ? "another text" : type;
  return new OAuthFailure("invalid", `${host} answers ${pathname} with ${content} in place of a JSON object`);
}

type AnswerBody = Readonly<Record<string, unknown>>;

/** Some providers answer with status 200 for errors, and others with 201 or 204 where the standard has 200. */
function requireSuccess(url: URL, response: Response, body: AnswerBody, clean: (text: string) => string): void {
  const { status } = response;
  const { error, error_description: description } = body;
  if (response.ok && (typeof error !== "string" || typeof body["access_token"] === "string")) return;
  const isLater = status >= 500 || status === 429 || status === 408;
  const retryAfterMs = readRetryAfter(response);
  if (typeof error !== "string")
    throw new OAuthFailure(
      isLater ? "unavailable" : "invalid",
      `${url.host} answers ${url.pathname} with status ${status}${describeRedirect(response)}`,
      { retryAfterMs },
    );
  const text = typeof description === "string" && description !== "" ? `${error}: ${description}` : error;
  const kind = REFUSALS.has(error) ? "refused" : isLater || DELAYS.has(error) ? "unavailable" : "invalid";
  throw new OAuthFailure(kind, `${url.host} answers ${clean(text)}`, { code: clean(error), retryAfterMs });
}

/** Codes by which providers say that a grant is over; the last three are of GitHub and Slack. */
const REFUSALS: ReadonlySet<string> = new Set([
  "invalid_grant",
  "access_denied",
  "expired_token",
  "bad_refresh_token",
  "invalid_refresh_token",
  "token_revoked",
]);

const DELAYS: ReadonlySet<string> = new Set(["temporarily_unavailable", "server_error"]);

function describeRedirect({ status }: Response): string {
  return status >= 300 && status < 400 ? ", a redirect, which is not followed" : "";
}

function readRetryAfter({ headers }: Response): number | undefined {
  const text = headers.get("retry-after");
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Gives an answer with tokens the form of the standard. Of an ID token it keeps the user, for display. */
function normalize({ id_token: idToken, ...body }: AnswerBody): AnswerBody {
  const { token_type: type, refresh_token: refresh, scope, expires_in: seconds, [USER]: _user, ...rest } = body;
  const isBound = typeof type === "string" && /^(?:dpop|mac|pop)$/i.test(type);
  const user = readUser(idToken);
  return {
    ...rest,
    token_type: isBound ? type : "bearer", // some name the kind of the user
    ...(typeof refresh === "string" && refresh !== "" && { refresh_token: refresh }),
    ...(typeof scope === "string" && { scope }),
    ...(Number(seconds) > 0 && { expires_in: Number(seconds) }),
    ...(user !== undefined && { [USER]: user }),
  };
}

/** Reads how an ID token names its user. Its signature is not checked: it comes from the provider itself, and decides nothing. */
function readUser(idToken: unknown): string | undefined {
  if (typeof idToken !== "string") return undefined;
  const claims = parseJsonObject(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString("utf8")) ?? {};
  const user = [claims["email"], claims["preferred_username"], claims["name"], claims["sub"]].find(
    (claim) => typeof claim === "string" && claim !== "",
  );
  return typeof user === "string" ? toVisibleLine(truncateText(user, 100)) : undefined;
}

function toFailure(error: unknown, { host }: URL, clean: (text: string) => string): OAuthFailure {
  if (error instanceof OAuthFailure) return error;
  if (error instanceof AddressRefused)
    return new OAuthFailure(
      "invalid",
      `${host} is an address of a private network; allow it by private: true in the settings of the account`,
    );
  const { name, code } = toRecord(error);
  if (name === "TimeoutError" || name === "AbortError")
    return new OAuthFailure("unavailable", `${host} does not answer within ${REQUEST_MS / 1_000} s`);
  const why = typeof code === "string" ? code : clean(getMessage(error));
  return new OAuthFailure("unavailable", `${host} cannot be reached: ${why}`);
}
