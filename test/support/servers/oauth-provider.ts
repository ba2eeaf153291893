import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";

import { onTestFinished } from "vitest";

/** A real OAuth provider on a free port, and an API that answers by the user of the token. */
export interface TestProvider {
  readonly issuer: string;
  /** `GET <apiUrl>/me` tells the user; `GET <apiUrl>/admin` needs the scope `admin`. */
  readonly apiUrl: string;
  /** The grant types of the requests for tokens, in their order. */
  readonly requests: readonly string[];
  /** The bodies of all requests for tokens and revocations. */
  readonly bodies: readonly URLSearchParams[];
  /** The access and refresh tokens that it has granted, in their order. */
  readonly tokens: readonly string[];
  /** The tokens that requests to the API had, in their order. */
  readonly calls: readonly string[];
  /** Whether refresh tokens are replaced. True by default. */
  isRotating: boolean;
  /** Seconds for which access tokens are valid. */
  accessSeconds: number;
  /** Seconds for which device codes are valid. */
  codeSeconds: number;
  /** How requests for tokens fail. */
  fault: Fault | undefined;
  /** The API refuses every token, as one that is for another audience. */
  isApiRefusing: boolean;
  countRefreshes(): number;
  /** Holds the answers to requests for tokens, which the provider has processed. Returns the function that sends them. */
  hold(): () => void;
  /** Holds the answers of the API. Returns the function that sends them. */
  holdApi(): () => void;
  /** Opens a page as a browser, logs in as a user, and returns the address to which the provider sends the browser. */
  logIn(page: URL, user: string): Promise<URL>;
  /** As `logIn`, but the user denies access. */
  deny(page: URL): Promise<URL>;
  /** Enters a device code as a user; denies access without one. */
  enterCode(userCode: string, user: string | undefined): Promise<void>;
  /** Withdraws all that a user has granted. */
  withdraw(user: string): Promise<void>;
}

/**
 * `down`: status 503 that names 7 seconds; `lost`: the connection ends after the provider has processed the request; `twice`: the provider
 * sends its answer two times; `graceful`: it answers a repeated refresh as the first one; `redirect`: it names another address;
 * `repeating`: its error has the secrets of the request; `odd`: an answer as some providers give it; `slow down`: as a device asks too often.
 */
export type Fault = "down" | "lost" | "twice" | "graceful" | "redirect" | "repeating" | "odd" | "slow down";

/** The secret of the clients `web` and `service`; `cli` has none, and `post` sends it in the body. */
export const CLIENT_SECRET = "provider-client-secret-0123456789";

/** The redirect URLs that the clients have; other ports of the loopback address are accepted as well. */
export const REDIRECT_URL = "http://127.0.0.1/callback";

/** The redirect URL of the account `shop`. */
const SHOP_URL = "http://127.0.0.1/connect/shop/callback";

export interface TestProviderOptions {
  /** Redirect URLs beside that of the loopback address. */
  readonly redirectUrls?: readonly string[];
}

export async function startOAuthProvider({ redirectUrls = [] }: TestProviderOptions = {}): Promise<TestProvider> {
  const { server, origin: issuer } = await listen();
  const inner = await listen();
  const state = new ProviderState(issuer);
  // @ts-expect-error: a package without types
  const { Provider } = (await import("oidc-provider")) as unknown as OidcPackage;
  const oidc = new Provider(issuer, configure(state, redirectUrls));
  oidc.proxy = true; // the inner server names addresses of the outer one
  const answer = oidc.callback();
  inner.server.on("request", answer);
  server.on("request", (request, response) => {
    const { pathname } = new URL(request.url ?? "/", issuer);
    if (pathname.startsWith("/api/")) void answerApi(oidc, state, request, response);
    else if (pathname.startsWith("/interaction/")) void answerPage(oidc, request, response);
    else if (pathname === "/token" || pathname.startsWith("/token/"))
      void answerToken(inner.origin, state, request, response);
    else if (pathname === "/device/auth") void answerDevice(inner.origin, request, response);
    else answer(request, response);
  });
  return Object.assign(state, {
    enterCode: (userCode: string, user: string | undefined) => enterCode(oidc, userCode, user),
    withdraw: (user: string) => withdraw(oidc, user),
  });
}

async function listen(): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

class ProviderState {
  readonly issuer: string;
  readonly apiUrl: string;
  readonly requests: string[] = [];
  readonly bodies: URLSearchParams[] = [];
  readonly tokens: string[] = [];
  readonly calls: string[] = [];
  readonly answers = new Map<string, Answer>();
  isRotating = true;
  accessSeconds = 3_600;
  codeSeconds = 600;
  fault: Fault | undefined;
  isApiRefusing = false;
  held: Promise<void> = Promise.resolve();
  heldApi: Promise<void> = Promise.resolve();

  constructor(issuer: string) {
    this.issuer = issuer;
    this.apiUrl = `${issuer}/api`;
  }

  countRefreshes(): number {
    return this.requests.filter((type) => type === "refresh_token").length;
  }

  hold(): () => void {
    let release = (): void => {};
    this.held = new Promise((resolve) => (release = resolve));
    return release;
  }

  holdApi(): () => void {
    let release = (): void => {};
    this.heldApi = new Promise((resolve) => (release = resolve));
    return release;
  }

  logIn(page: URL, user: string): Promise<URL> {
    return answerPageAsUser(page, { user });
  }

  deny(page: URL): Promise<URL> {
    return answerPageAsUser(page, { deny: "yes" });
  }
}

function configure(state: ProviderState, redirectUrls: readonly string[]): object {
  const common = {
    redirect_uris: [REDIRECT_URL, SHOP_URL, ...redirectUrls],
    grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    response_types: ["code"],
    application_type: "native", // any port of the loopback address
  };
  const secret = { client_secret: CLIENT_SECRET };
  return {
    clients: [
      { ...common, client_id: "cli", token_endpoint_auth_method: "none" },
      { ...common, ...secret, client_id: "web", token_endpoint_auth_method: "client_secret_basic" },
      { ...common, ...secret, client_id: "post", token_endpoint_auth_method: "client_secret_post" },
      { ...secret, client_id: "service", redirect_uris: [], response_types: [], grant_types: ["client_credentials"] },
    ],
    scopes: ["openid", "offline_access", "read", "admin"],
    claims: { openid: ["sub", "email"] },
    clockTolerance: 0,
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, user: string) => ({
      accountId: user,
      claims: () => ({ sub: user, email: `${user}@example.com` }),
    }),
    pkce: { required: () => true },
    rotateRefreshToken: () => state.isRotating,
    issueRefreshToken: () => true,
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      revocation: { enabled: true },
    },
    ttl: {
      AccessToken: () => state.accessSeconds,
      ClientCredentials: () => state.accessSeconds,
      DeviceCode: () => state.codeSeconds,
      Grant: 86_400,
      Interaction: 3_600,
      Session: 3_600,
      RefreshToken: 86_400,
      IdToken: 3_600,
    },
    cookies: { keys: ["a key for cookies of tests"] },
  };
}

/** A stored answer to a request for tokens. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function answerToken(
  origin: string,
  state: ProviderState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { fault } = state;
  const isRevocation = request.url?.startsWith("/token/revocation") === true;
  const text = await readText(request);
  const body = new URLSearchParams(text);
  state.bodies.push(body);
  if (!isRevocation) state.requests.push(body.get("grant_type") ?? "");
  if (fault === "down") return void response.writeHead(503, { "retry-after": "7" }).end("down");
  if (fault === "redirect") return void response.writeHead(307, { location: "/elsewhere" }).end();
  if (fault === "slow down") return sendJson(response, 400, { error: "slow_down" });
  if (fault === "repeating")
    return sendJson(response, 400, {
      error: "invalid_request",
      error_description: `wrong:\r\n${text} ${request.headers.authorization ?? ""} \u001b[31m${"x".repeat(900)}`,
    });
  const repeated = fault === "graceful" ? state.answers.get(body.get("refresh_token") ?? "") : undefined;
  const made = repeated ?? (await processRequest(origin, request, text));
  state.answers.set(body.get("refresh_token") ?? "", made);
  state.tokens.push(...[...made.body.matchAll(/"(?:access|refresh)_token":"([^"]+)"/g)].map(([, token = ""]) => token));
  if (!isRevocation) await state.held;
  if (fault === "lost") return void response.socket?.destroy();
  send(response, fault === "odd" ? makeOdd(made) : made, fault === "twice");
}

/** Lets the provider process a request, and keeps its answer. */
async function processRequest(origin: string, request: IncomingMessage, body: string): Promise<Answer> {
  const { authorization, host = "", "content-type": type = "" } = request.headers;
  const headers = {
    "content-type": type,
    "x-forwarded-host": host,
    ...(authorization !== undefined && { authorization }),
  };
  const response = await fetch(`${origin}${request.url ?? ""}`, { method: "POST", headers, body, redirect: "manual" });
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}

/** Names a short interval, so that tests wait for the user and not for the time. */
async function answerDevice(origin: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = await processRequest(origin, request, await readText(request));
  sendJson(response, answer.status, { ...(JSON.parse(answer.body) as object), interval: 0.05 });
}

function send(response: ServerResponse, { status, headers, body }: Answer, isTwice: boolean): void {
  const { "content-type": type = "text/plain", "www-authenticate": challenge } = headers;
  const shown = { "content-type": type, ...(challenge !== undefined && { "www-authenticate": challenge }) };
  if (!isTwice) return void response.writeHead(status, shown).end(body);
  const whole = `HTTP/1.1 ${status} OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  response.socket?.end(whole + whole);
}

/** Numbers as texts, scopes with commas, a kind of tokens of its own, and another content type. */
function makeOdd(answer: Answer): Answer {
  const { expires_in: seconds, scope, ...body } = JSON.parse(answer.body) as Record<string, unknown>;
  const odd = { ...body, token_type: "user", expires_in: String(seconds), scope: String(scope).replaceAll(" ", ",") };
  return { ...answer, headers: { "content-type": "text/plain" }, body: JSON.stringify(odd) };
}

async function answerApi(
  oidc: OidcProvider,
  state: ProviderState,
  { url = "", headers }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
  state.calls.push(token);
  await state.heldApi;
  const found = (await oidc.AccessToken.find(token)) ?? (await oidc.ClientCredentials.find(token));
  const challenge = (error: string): object => ({ "www-authenticate": `Bearer realm="api", ${error}` });
  const grant = found?.grantId === undefined ? undefined : await oidc.Grant.find(found.grantId);
  const isWithdrawn = found?.accountId !== undefined && grant === undefined;
  if (found === undefined || isWithdrawn || state.isApiRefusing)
    return sendJson(response, 401, { error: "invalid_token" }, challenge('error="invalid_token"'));
  const user = found.accountId ?? found.clientId;
  if (url.startsWith("/api/admin") && found.scope?.split(" ").includes("admin") !== true)
    return sendJson(response, 403, { error: "scope" }, challenge('error="insufficient_scope", scope="read admin"'));
  sendJson(response, 200, { user });
}

function sendJson(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Serves the page on which a person logs in and agrees, or denies. */
async function answerPage(oidc: OidcProvider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { params } = await oidc.interactionDetails(request, response);
  if (request.method !== "POST") return void response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  const form = new URLSearchParams(await readText(request));
  const accountId = form.get("user") ?? "";
  if (form.has("deny")) {
    const error = { error: "access_denied", error_description: "The user denied access" };
    return oidc.interactionFinished(request, response, error);
  }
  const consent = { grantId: await saveGrant(oidc, accountId, params) };
  await oidc.interactionFinished(request, response, { login: { accountId }, consent });
}

const PAGE = `<!doctype html><title>Log in</title><form method="post"><label>User <input name="user" value="ada"></label>
<button>Allow</button></form><form method="post"><button name="deny" value="yes">Deny</button></form>`;

type Parameters = Readonly<Record<"client_id" | "scope", string | undefined>>;

const grants = new WeakMap<OidcProvider, { readonly user: string; readonly grant: OidcGrant }[]>();

async function saveGrant(oidc: OidcProvider, accountId: string, parameters: Parameters): Promise<string> {
  const grant = new oidc.Grant({ accountId, clientId: parameters.client_id });
  grant.addOIDCScope(parameters.scope ?? "");
  const id = await grant.save();
  grants.set(oidc, [...(grants.get(oidc) ?? []), { user: accountId, grant }]);
  return id;
}

async function withdraw(oidc: OidcProvider, user: string): Promise<void> {
  for (const each of grants.get(oidc) ?? []) if (each.user === user) await each.grant.destroy();
}

async function enterCode(oidc: OidcProvider, userCode: string, user: string | undefined): Promise<void> {
  const code = await oidc.DeviceCode.findByUserCode(userCode.replaceAll("-", ""));
  if (code === undefined) throw new TypeError(`there is no device code ${userCode}`);
  if (user === undefined) Object.assign(code, { error: "access_denied", errorDescription: "The user denied access" });
  else {
    const grantId = await saveGrant(oidc, user, { client_id: code.clientId, scope: code.params.scope });
    const authTime = Math.floor(Date.now() / 1_000);
    Object.assign(code, { accountId: user, grantId, scope: code.params.scope, claims: {}, authTime });
  }
  await code.save();
}

/** Opens a page as a browser with cookies, sends the form of the page for people, and returns the first address elsewhere. */
async function answerPageAsUser(page: URL, form: Readonly<Record<string, string>>): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = page;
  let body: URLSearchParams | undefined;
  while (url.origin === page.origin) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const sent = body === undefined ? {} : { method: "POST", body };
    const response = await fetch(url, { ...sent, redirect: "manual", headers: { cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get("location");
    body = location === null && body === undefined ? new URLSearchParams(form) : undefined;
    if (location === null && body === undefined)
      throw new Error(`the provider answers ${response.status}: ${await response.text()}`);
    if (location !== null) url = new URL(location, url);
  }
  return url;
}

/** The parts of oidc-provider, which has no types, that are used here. */
interface OidcPackage {
  readonly Provider: new (issuer: string, configuration: object) => OidcProvider;
}

interface OidcProvider {
  readonly AccessToken: { find(token: string): Promise<OidcToken | undefined> };
  readonly ClientCredentials: { find(token: string): Promise<OidcToken | undefined> };
  readonly DeviceCode: { findByUserCode(code: string): Promise<OidcDeviceCode | undefined> };
  readonly Grant: {
    new (facts: { readonly accountId: string; readonly clientId: string | undefined }): OidcGrant;
    find(id: string): Promise<OidcGrant | undefined>;
  };
  proxy: boolean;
  callback(): RequestListener;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<{ readonly params: Parameters }>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}

interface OidcToken {
  readonly accountId?: string;
  readonly grantId?: string;
  readonly clientId: string;
  readonly scope?: string;
}

interface OidcDeviceCode {
  readonly clientId: string;
  readonly params: { readonly scope: string };
  save(): Promise<unknown>;
}

interface OidcGrant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
  destroy(): Promise<void>;
}
