import type { IncomingHttpHeaders } from "node:http";
import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";

import { getMessage, sentence, SkillgateError } from "../../../errors.ts";
import { type Caller, formatCaller, OWNER } from "../../../model/caller.ts";
import { getCallbackPath } from "../../../shared/http/callback.ts";
import { describeMissingScopes } from "../../../shared/http/missing-scopes.ts";
import { getCaller } from "../auth/authenticate.ts";
import { readForm } from "../body.ts";
import type { HttpServices, RouteEnvironment } from "../services.ts";
import { type ConnectPage, formatPage, type FormField, PAGE_HEADERS } from "./page.ts";
import { type ConnectSessions, createConnectSessions } from "./sessions.ts";

/** The form has a key and a credential. */
const MAX_FORM_BYTES = 64 << 10;

/** The cookie must arrive when the provider sends the browser back, which `Strict` would prevent. */
const COOKIE = { httpOnly: true, sameSite: "Lax", maxAge: 600 } as const;

type Visit = Context<RouteEnvironment>;

interface ConnectServices extends HttpServices {
  readonly sessions: ConnectSessions;
}

/**
 * Serves the pages on which a person connects an account: `/connect/NAME`. The person proves with a key on whose behalf: a link
 * of another person connects nothing for that person.
 */
export function serveConnect(app: Hono<RouteEnvironment>, services: HttpServices): void {
  const connect = { ...services, sessions: createConnectSessions() };
  app.get("/connect/:name/callback", (c) => answer(c, () => finish(c, connect)));
  app.get("/connect/:name", (c) => answer(c, async () => createKeyPage(getName(c), connect)));
  app.post("/connect/:name", (c) => answer(c, () => submit(c, connect)));
}

/** A mistake is a page, too: a person reads it. */
async function answer(c: Visit, work: () => Promise<ConnectPage>): Promise<Response> {
  const page = await work().catch(createErrorPage);
  return c.body(await formatPage(page), page.status, PAGE_HEADERS);
}

function createErrorPage(error: unknown): ConnectPage {
  if (!(error instanceof SkillgateError)) throw error;
  const status = error.code === "REQUEST_FOREIGN" ? 403 : 400;
  return { status, title: "Not connected", lines: [getMessage(error)] };
}

function getName(c: Visit): string {
  return c.req.param("name") ?? "";
}

/** The first page is the same for every name: a stranger learns nothing of the accounts. */
function createKeyPage(name: string, { settings }: ConnectServices, flaw?: string): ConnectPage {
  const fields: readonly FormField[] = settings.auth ? [{ name: "key", label: "Your key", isSecret: true }] : [];
  const lines = [
    ...(flaw === undefined ? [] : [flaw]),
    "Programs that run with your key use the account then. They never see its credential.",
    ...(settings.auth ? ["Enter the key with which your client calls this server."] : []),
  ];
  return {
    status: flaw === undefined ? 200 : 401,
    title: `Connect ${name.slice(0, 100)}`,
    lines,
    form: { fields, button: "Go on" },
  };
}

async function submit(c: Visit, services: ConnectServices): Promise<ConnectPage> {
  requireOwnPage(c.env.incoming.headers, services.publicUrl());
  const name = getName(c);
  const form = await readForm(c.env.incoming, MAX_FORM_BYTES);
  const login = form && (await logIn(c, form, services));
  if (form === undefined || login === undefined)
    return createKeyPage(name, services, "The key is not valid, or the page has expired.");
  const { caller, secret } = login;
  const { accounts } = services.runtime.viewFor(caller);
  const { type, values, isPerCaller } = await accounts.describe(name);
  if (type === "oauth") {
    const browser = { redirectUrl: `${services.publicUrl()}${getCallbackPath(name)}`, cookie: secret };
    const next = await accounts.beginLogin({ name, ...readScopes(c) }, browser);
    setBrowser(c, secret, services);
    return { status: 200, title: `Connect ${name}`, lines: [`${next.host} asks you for your consent.`], next };
  }
  const owner = isPerCaller ? caller : undefined;
  if (!form.has(getField(0))) {
    setBrowser(c, secret, services);
    return createValuePage(name, values, owner);
  }
  await accounts.connect(
    { name },
    values.map((_, at) => form.get(getField(at)) ?? ""),
  );
  deleteBrowser(c, services);
  return createDonePage(name, owner);
}

async function finish(c: Visit, services: ConnectServices): Promise<ConnectPage> {
  const browser = findBrowser(c, services);
  if (browser === undefined)
    throw new SkillgateError(
      "LOGIN_MISSING",
      sentence("LOGIN_MISSING", "this browser did not begin the connection, or took too long; open the link again"),
    );
  const { search } = new URL(c.req.url);
  // A proxy may have changed the address.
  const returned = new URL(`${services.publicUrl()}${getCallbackPath(getName(c))}${search}`);
  const { name, owner, missingScopes } = await services.runtime.accounts.finishLogin(returned, browser);
  deleteBrowser(c, services);
  return createDonePage(name, owner === null ? undefined : { id: owner }, missingScopes);
}

/** The scopes that an error has named, beside those of the settings. The provider shows them to the person. */
function readScopes(c: Visit): { readonly scopes?: readonly string[] } {
  const scopes = (c.req.query("scope") ?? "").split(" ").filter((scope) => SCOPE.test(scope));
  return scopes.length === 0 ? {} : { scopes };
}

/** As RFC 6749 defines it. */
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]{1,200}$/;

function createValuePage(name: string, labels: readonly string[], owner: Caller | undefined): ConnectPage {
  return {
    status: 200,
    title: `Connect ${name}`,
    lines: [`It is stored encrypted, for ${formatOwner(owner)}.`],
    form: {
      fields: labels.map((label, at) => ({ name: getField(at), label, isSecret: true })),
      button: "Connect",
    },
  };
}

function createDonePage(
  name: string,
  owner: Pick<Caller, "id"> | undefined,
  missingScopes: readonly string[] = [],
): ConnectPage {
  const lines = [
    `The account ${name} is connected for ${formatOwner(owner)}.`,
    ...(missingScopes.length === 0 ? [] : [`${describeMissingScopes(missingScopes)}.`]),
    "You can close this page, and let the program run again.",
  ];
  return { status: 200, title: "Connected", lines };
}

function formatOwner(owner: Pick<Caller, "id"> | undefined): string {
  if (owner === undefined) return "everyone";
  return owner.id === OWNER.id ? "the owner of this server" : formatCaller(owner);
}

const getField = (at: number): string => `value${at}`;

interface ConnectLogin {
  readonly caller: Caller;
  /** The secret of the cookie. */
  readonly secret: string;
}

/** Identifies the person by the key in the form, else by the cookie of a page before. */
async function logIn(
  c: Visit,
  form: URLSearchParams,
  { settings, sessions, authenticator, ...services }: ConnectServices,
): Promise<ConnectLogin | undefined> {
  const before = findBrowser(c, services);
  const token = form.get("key")?.trim() ?? (before === undefined ? undefined : sessions.find(before));
  if (settings.auth && (token === undefined || !/^\S+$/.test(token))) return undefined;
  const caller = getCaller(await authenticator.authenticate({ authorization: `Bearer ${token ?? ""}` }));
  if (caller === undefined) return undefined;
  const own = token ?? "";
  const isKnown = before !== undefined && sessions.find(before) === own;
  return { caller, secret: isKnown ? before : sessions.open(own, caller.id) };
}

function setBrowser(c: Visit, secret: string, services: ConnectServices): void {
  const { name, ...form } = getCookieForm(services);
  setCookie(c, name, secret, { ...COOKIE, ...form });
}

function deleteBrowser(c: Visit, services: ConnectServices): void {
  const { name, ...form } = getCookieForm(services);
  deleteCookie(c, name, { ...COOKIE, ...form });
}

function findBrowser(c: Visit, services: Pick<HttpServices, "publicUrl">): string | undefined {
  return getCookie(c, getCookieForm(services).name);
}

/**
 * The name has the port, because browsers send the cookies of a host to all its ports: the public one, which all processes behind a
 * proxy have in common. With `__Host-`, which needs https and the path `/`, no other host of the domain sets it.
 */
function getCookieForm({ publicUrl }: Pick<HttpServices, "publicUrl">): {
  readonly name: string;
  readonly path: string;
  readonly secure: boolean;
} {
  const { port, protocol } = new URL(publicUrl());
  const name = `skillgate_connect_${port}`;
  return protocol === "https:"
    ? { name: `__Host-${name}`, path: "/", secure: true }
    : { name, path: "/connect", secure: false };
}

/** Another page could send its own key, and so connect the account of the person to the key of another one. */
function requireOwnPage(
  { origin, host, "sec-fetch-site": site = "same-origin" }: IncomingHttpHeaders,
  publicUrl: string,
): void {
  const url = origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined;
  // A proxy may have changed the host.
  const isOwn = url !== undefined && (url.host === host || url.origin === new URL(publicUrl).origin);
  if (isOwn && site === "same-origin") return;
  const says = "the form was sent by another page; open the link again";
  throw new SkillgateError("REQUEST_FOREIGN", sentence("REQUEST_FOREIGN", says));
}
