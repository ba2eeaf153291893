import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

import { type HttpServer, serve } from "./http-servers.ts";
import { createProofCheck } from "./proofs.ts";

/** An MCP server behind OAuth 2.1, with its authorization server beside it. */
export interface ProtectedServer extends HttpServer {
  /** Grant types that its token endpoint received: `authorization_code`, `refresh_token`, `client_credentials`, `…:jwt-bearer`. */
  readonly grants: readonly string[];
  readonly clients: readonly string[];
  /** All that it has given out: access tokens and refresh tokens. */
  readonly tokens: readonly string[];
  /** Every access token that is out is worth nothing any more. */
  expire(): void;
  /** The response of the page on which a person allows access. */
  answerWith(parameters: Readonly<Record<string, string>>): void;
}

interface Code {
  readonly challenge: string;
  readonly client: string;
}

export interface ProtectedServerOptions {
  /** True for an assertion of an identity provider that the authorization server trusts. */
  readonly trusts?: (assertion: string) => Promise<boolean>;
  /** Tokens are bound to keys: the servers ask for proofs, and with a nonce for proofs that have it. */
  readonly proofs?: { readonly nonce?: string; /** No nonce is the right one. */ readonly isEndless?: boolean };
  /** Replaces members of the metadata of the authorization server. */
  readonly metadata?: object;
  /** Replaces members of the answer with the tokens. */
  readonly answer?: object;
}

export async function protectedServer(options: ProtectedServerOptions = {}): Promise<ProtectedServer> {
  const checkProof = createProofCheck(options.proofs);
  const grants: string[] = [];
  const clients: string[] = [];
  const tokens: string[] = [];
  const codes = new Map<string, Code>();
  const refreshTokens = new Set<string>();
  /** With the thumbprints of the keys to which they are bound. */
  let accessTokens = new Map<string, string | undefined>();
  let answer: Readonly<Record<string, string>> = {};
  const mcp = toNodeHandler(createMcpHandler(echoServer));

  const server = await serve(async (request, response) => {
    const url = new URL(request.url ?? "", server.url);
    const route = ROUTES[url.pathname] ?? protectedRoute;
    await route(request, response, url);
  });
  const issuer = new URL(server.url).origin;

  const ROUTES: Record<string, (request: IncomingMessage, response: ServerResponse, url: URL) => unknown> = {
    "/.well-known/oauth-protected-resource": (_request, response) =>
      json(response, 200, { resource: server.url, authorization_servers: [issuer] }),
    "/.well-known/oauth-authorization-server": (_request, response) =>
      json(response, 200, { ...metadata(issuer), ...options.metadata }),
    "/register": async (request, response) => {
      const client = randomUUID();
      clients.push(client);
      json(response, 201, { ...(JSON.parse(await text(request)) as object), client_id: client });
    },
    "/authorize": (_request, response, { searchParams }) => {
      const code = randomUUID();
      codes.set(code, { challenge: param(searchParams, "code_challenge"), client: param(searchParams, "client_id") });
      const back = new URL(param(searchParams, "redirect_uri"));
      const said = { code, state: param(searchParams, "state"), iss: issuer, ...answer };
      for (const [name, value] of Object.entries(said)) if (value !== "") back.searchParams.set(name, value);
      response.writeHead(302, { location: back.href }).end();
    },
    "/token": async (request, response) => {
      const form = new URLSearchParams(await text(request));
      grants.push(param(form, "grant_type"));
      const proof = options.proofs && (await checkProof(request, `${issuer}/token`));
      if (proof?.error !== undefined) return json(response, 400, { error: proof.error }, proof.headers);
      if (!(await isGranted(form, request.headers.authorization)))
        return json(response, 400, { error: "invalid_grant" });
      const [access, refresh] = [randomUUID(), randomUUID()];
      accessTokens.set(access, proof?.key);
      refreshTokens.add(refresh);
      tokens.push(access, refresh);
      const token_type = proof === undefined ? "Bearer" : "DPoP";
      const given = { access_token: access, refresh_token: refresh, token_type, expires_in: 3600 };
      json(response, 200, { ...given, ...options.answer });
    },
  };

  async function protectedRoute(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const scheme = options.proofs === undefined ? "Bearer" : "DPoP";
    const [, token = ""] = new RegExp(`^${scheme} (.*)$`).exec(request.headers.authorization ?? "") ?? [];
    const proof = scheme === "DPoP" && token !== "" ? await checkProof(request, server.url, token) : undefined;
    if (proof?.error === undefined && accessTokens.has(token) && accessTokens.get(token) === proof?.key)
      return mcp(request as Parameters<typeof mcp>[0], response);
    const error = proof?.error === undefined ? "" : `error="${proof.error}", `;
    const challenge = `${scheme} ${error}resource_metadata="${issuer}/.well-known/oauth-protected-resource"`;
    return response.writeHead(401, { "www-authenticate": challenge, ...proof?.headers }).end();
  }

  async function isGranted(form: URLSearchParams, authorization: string | undefined): Promise<boolean> {
    switch (param(form, "grant_type")) {
      case "authorization_code": {
        const code = codes.get(param(form, "code"));
        codes.delete(param(form, "code"));
        const challenge = createHash("sha256").update(param(form, "code_verifier")).digest("base64url");
        return code?.challenge === challenge && code.client === param(form, "client_id");
      }
      // A refresh token can be used once.
      case "refresh_token":
        return refreshTokens.delete(param(form, "refresh_token"));
      case "urn:ietf:params:oauth:grant-type:jwt-bearer":
        return (await options.trusts?.(param(form, "assertion"))) === true;
      default:
        return authorization === `Basic ${Buffer.from("robot:s3cret").toString("base64")}`;
    }
  }

  return Object.assign(server, {
    grants,
    clients,
    tokens,
    expire: () => void (accessTokens = new Map()),
    answerWith: (parameters: Readonly<Record<string, string>>) => void (answer = parameters),
  });
}

function metadata(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    authorization_response_iss_parameter_supported: true,
  };
}

function echoServer(): McpServer {
  const server = new McpServer({ name: "protected", version: "1.0.0" });
  server.registerTool("hello", {}, () => ({ content: [{ type: "text", text: "hello" }] }));
  server.registerTool("extensions", {}, () => {
    const announced = Object.keys(server.server.getClientCapabilities()?.extensions ?? {});
    return { content: [{ type: "text", text: announced.join(" ") }] };
  });
  return server;
}

function param(parameters: URLSearchParams, name: string): string {
  return parameters.get(name) ?? "";
}

function json(response: ServerResponse, status: number, body: object, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
