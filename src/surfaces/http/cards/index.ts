import { createHash } from "node:crypto";
import type { Context, Hono } from "hono";

import { rpcError } from "../../../shared/rpc-errors.ts";
import { IDENTITY, selectProfile } from "../../mcp/index.ts";
import { LEGACY_VERSIONS, MODERN_VERSION } from "../../mcp/opening/index.ts";
import { isLoopback } from "../origin-check.ts";
import { inTrace, refuseAsProblem } from "../responses.ts";
import type { HttpServices, RouteEnvironment } from "../services.ts";

const CARD_TYPE = "application/mcp-server-card+json";

/** The paths of the catalog, with the media types: that of AI catalogs, and the one of earlier drafts. */
const CATALOGS = {
  "/.well-known/ai-catalog.json": "application/ai-catalog+json",
  "/.well-known/mcp/catalog.json": "application/json",
} as const;

/** The path of a card after that of its endpoint. */
const CARD = "/server-card";

/** Pages of all origins may read what is public, and nothing in it depends on the reader. */
const PUBLIC_HEADERS: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "content-type, if-none-match",
  "access-control-expose-headers": "etag",
  "cache-control": "public, max-age=3600",
  vary: "host",
};

/**
 * Serves the cards of the endpoints that the setting `cards` names, and the catalog of them, without a token, and
 * to pages of all origins. Other requests go on to the routes that ask for a token.
 */
export function servePublicCards(app: Hono<RouteEnvironment>, services: HttpServices): void {
  const { cards } = services.settings;
  if (cards.length === 0) return;
  const answer = (c: Context<RouteEnvironment>, type: string, create: (base: string) => object): Response => {
    const base = findBase(c, services);
    if (base === undefined)
      return refuseAsProblem(403, rpcError("AuthorizationError", "The host is not allowed", inTrace(c)));
    if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: PUBLIC_HEADERS });
    const text = JSON.stringify(create(base));
    const etag = `"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"`;
    const headers = { ...PUBLIC_HEADERS, etag };
    if (c.req.header("if-none-match")?.includes(etag) === true) return new Response(null, { status: 304, headers });
    return c.body(text, 200, { ...headers, "content-type": type });
  };
  const served = cards.filter((path) => isServed(path, services));
  for (const [path, type] of Object.entries(CATALOGS))
    app.on(["GET", "OPTIONS"], path, (c) => answer(c, type, (base) => createCatalog(base, served)));
  for (const path of served)
    app.on(["GET", "OPTIONS"], path + CARD, (c) => answer(c, CARD_TYPE, (base) => createCard(base, path, services)));
}

/** Serves the card of each endpoint to the callers that may use it. */
export function serveCards(app: Hono<RouteEnvironment>, services: HttpServices): void {
  const answer = (c: Context<RouteEnvironment>, path: string): Response => {
    const base = findBase(c, services) ?? services.publicUrl();
    const headers = { "content-type": CARD_TYPE, "cache-control": "private, max-age=3600" };
    return c.body(JSON.stringify(createCard(base, path, services)), 200, headers);
  };
  app.get(`/mcp${CARD}`, (c) => answer(c, "/mcp"));
  app.get(`/mcp/:profile${CARD}`, async (c) => {
    const { settings, runtime } = services;
    const { expose, names, budgetTokens } = settings;
    const whole = { caller: c.get("caller"), exposure: { expose, names, budgetTokens } };
    const name = c.req.param("profile");
    const selected = await selectProfile(runtime, whole, name);
    if (!("message" in selected)) return answer(c, `/mcp/${name}`);
    return refuseAsProblem(
      404,
      rpcError("MethodNotFound", selected.message, { suggestions: selected.names, ...inTrace(c) }),
    );
  });
}

function isServed(path: string, { runtime }: HttpServices): boolean {
  const profile = getProfile(path);
  return profile === undefined ? path === "/mcp" : runtime.profiles.has(profile);
}

function getProfile(path: string): string | undefined {
  return /^\/mcp\/([^/]+)$/.exec(path)?.[1];
}

/** Returns the address by which the client reached the server; `undefined` for a host that is not allowed. */
function findBase(c: Context<RouteEnvironment>, { origins }: HttpServices): string | undefined {
  const { headers, rawHeaders } = c.env.incoming;
  const { host = "" } = headers;
  if (origins.refusal({ headers: { host }, rawHeaders }) !== undefined) return undefined;
  return `${isLoopback(new URL(`http://${host}`).hostname) ? "http" : "https"}://${host}`;
}

function createCard(base: string, path: string, { settings }: HttpServices): object {
  const profile = getProfile(path);
  const of = profile === undefined ? "" : `, profile ${profile}`;
  const header = { name: "Authorization", description: "Bearer and a token", isRequired: true, isSecret: true };
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    name: `${new URL(base).hostname
      .replaceAll(/[^\w.-]/g, "")
      .split(".")
      .toReversed()
      .join(".")}/${getName(path)}`,
    version: IDENTITY.version,
    title: IDENTITY.title + of,
    description: `Calls tools, alone and in programs${of}`.slice(0, 100),
    remotes: [
      {
        type: "streamable-http",
        url: base + path,
        supportedProtocolVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
        // With an issuer, clients find out how to log in.
        ...(settings.auth && settings.oauth === undefined && { headers: [header] }),
      },
    ],
  };
}

function getName(path: string): string {
  return getProfile(path) ?? IDENTITY.name;
}

function createCatalog(base: string, paths: readonly string[]): object {
  const entries = paths.map((path) => ({
    identifier: `urn:air:${new URL(base).hostname}:mcp:${getName(path)}`,
    displayName: getProfile(path) ?? IDENTITY.title,
    type: CARD_TYPE,
    url: base + path + CARD,
  }));
  return { specVersion: "1.0", entries };
}
