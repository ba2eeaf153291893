import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { type CryptoKey, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from "jose";

import { type HttpServer, serve } from "./http-servers.ts";

/** The identity provider of a company, which knows one client and one user. */
export interface IdentityServer extends HttpServer {
  readonly issuer: string;
  /** Scopes that exchanges asked for. */
  readonly scopes: readonly (string | null)[];
  /** Grant types that its token endpoint received. */
  readonly grants: readonly string[];
  /** Everything that it has given out. */
  readonly tokens: readonly string[];
  /** Signs an ID token. */
  idToken(claims?: JWTPayload): Promise<string>;
  /** True for an assertion of this provider for an authorization server. */
  vouches(assertion: string, audience: string): Promise<boolean>;
  /** Replaces claims, the type or the whole of later assertions. */
  assertWith(change: AssertionChange): void;
  /** Refuses later exchanges with this error; `undefined`: none. */
  refuseWith(error: string | undefined, description?: (subject: string) => string): void;
  /** Refuses to refresh the tokens that are given out. */
  endLogins(): void;
  /** ID tokens that are given out are valid for this time from now on; `undefined`: refreshes bring none. */
  issueFor(seconds: number | undefined): void;
  /** Answers the next token requests as a proxy does whose server is down. */
  failNext(requests: number): void;
}

interface AssertionChange {
  readonly typ?: string;
  readonly claims?: JWTPayload;
  readonly answer?: unknown;
}

export const IDP_CLIENT = { clientId: "skillgate-at-idp", clientSecret: "idp-s3cret" };

/** The client at the authorization server, as the administrator of the provider has mapped it. */
export const MAPPED_CLIENT = "skillgate-at-server";

export async function identityProvider(): Promise<IdentityServer> {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const grants: string[] = [];
  const scopes: (string | null)[] = [];
  const tokens: string[] = [];
  const refreshTokens = new Set<string>();
  let change: AssertionChange = {};
  let refusal: { readonly error: string; readonly description: ((subject: string) => string) | undefined } | undefined;
  let seconds: number | undefined = 3600;
  let failures = 0;
  const server = await serve(async (request, response) => {
    const url = new URL(request.url ?? "", server.url);
    if (url.pathname === "/.well-known/openid-configuration") return json(response, 200, metadata(issuer));
    if (url.pathname === "/authorize") {
      const back = new URL(url.searchParams.get("redirect_uri") ?? "");
      back.searchParams.set("code", "once");
      back.searchParams.set("state", url.searchParams.get("state") ?? "");
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname !== "/token") return void response.writeHead(404).end();
    if (failures-- > 0)
      return void response.writeHead(503, { "content-type": "text/html" }).end("<h1>503 Service Unavailable</h1>");
    const form = new URLSearchParams(await text(request));
    return answer(form, request.headers.authorization, response);
  });
  const issuer = new URL(server.url).origin;

  async function answer(form: URLSearchParams, authorization: string | undefined, response: ServerResponse) {
    const grant = form.get("grant_type") ?? "";
    grants.push(grant.replace(/.*:/, ""));
    const secret = Buffer.from(`${IDP_CLIENT.clientId}:${IDP_CLIENT.clientSecret}`).toString("base64");
    if (authorization !== `Basic ${secret}`) return json(response, 401, { error: "invalid_client" });
    if (grant.endsWith("token-exchange")) return exchange(form, response);
    const isRefresh = grant === "refresh_token";
    if (isRefresh && !refreshTokens.delete(form.get("refresh_token") ?? ""))
      return json(response, 400, { error: "invalid_grant" });
    const refresh = randomUUID();
    refreshTokens.add(refresh);
    const idToken = isRefresh && seconds === undefined ? {} : { id_token: await sign({}, "JWT") };
    const given = { access_token: randomUUID(), refresh_token: refresh, ...idToken };
    tokens.push(...Object.values(given));
    json(response, 200, { ...given, token_type: "Bearer" });
  }

  async function exchange(form: URLSearchParams, response: ServerResponse) {
    const subject = form.get("subject_token") ?? "";
    if (refusal !== undefined) {
      const { error, description } = refusal;
      return json(response, 400, { error, error_description: description?.(subject) });
    }
    const { payload } = await jwtVerify(subject, publicKey, { issuer, audience: IDP_CLIENT.clientId });
    scopes.push(form.get("scope"));
    const [aud, resource] = [form.get("audience") ?? "", form.get("resource")];
    const claims = { sub: payload.sub ?? "", aud, resource, client_id: MAPPED_CLIENT, jti: randomUUID() };
    const { typ = "oauth-id-jag+jwt", answer: whole } = change;
    const assertion = await sign({ ...claims, ...change.claims }, typ);
    tokens.push(assertion);
    const issued_token_type = form.get("requested_token_type");
    json(response, 200, whole ?? { access_token: assertion, issued_token_type, token_type: "N_A", expires_in: 300 });
  }

  function sign(claims: JWTPayload, typ: string): Promise<string> {
    const exp = Math.floor(Date.now() / 1_000) + (seconds ?? 3600);
    return new SignJWT({ sub: "ada", iss: issuer, aud: IDP_CLIENT.clientId, exp, ...claims })
      .setProtectedHeader({ alg: "ES256", typ })
      .setIssuedAt()
      .sign(privateKey);
  }

  return Object.assign(server, {
    issuer,
    scopes,
    grants,
    tokens,
    idToken: (claims: JWTPayload = {}) => sign(claims, "JWT"),
    vouches: (assertion: string, audience: string) => isFor(publicKey, assertion, { issuer, audience }),
    assertWith: (next: AssertionChange) => void (change = next),
    refuseWith: (error: string | undefined, description?: (subject: string) => string) =>
      void (refusal = error === undefined ? undefined : { error, description }),
    endLogins: () => refreshTokens.clear(),
    failNext: (requests: number) => void (failures = requests),
    issueFor: (next: number | undefined) => void (seconds = next),
  });
}

async function isFor(
  key: CryptoKey,
  assertion: string,
  claims: { readonly issuer: string; readonly audience: string },
) {
  return jwtVerify(assertion, key, claims).then(
    ({ payload }) => payload["client_id"] === MAPPED_CLIENT,
    () => false,
  );
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
    scopes_supported: ["openid", "offline_access"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_basic"],
  };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
