import type { IncomingHttpHeaders } from "node:http";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";

import { sentence, SkillgateError } from "../../../errors.ts";
import {
  type Authentication,
  closeAfterCredential,
  type HttpServices,
  OWNER_AUTHENTICATION,
} from "../../http/index.ts";
import type { ConsoleEnvironment } from "../services.ts";
import type { ConsoleSessions } from "./sessions.ts";

/** The header that pages send with every request that changes something. Forms and links of other pages cannot send it. */
export const CONSOLE_HEADER = "x-skillgate-console";

/** Refuses requests that another web page has caused, in every way that browsers report. */
export function refuseForeignPages(): MiddlewareHandler<ConsoleEnvironment> {
  return async (c, next) => {
    const { headers, method = "GET" } = c.env.incoming;
    const reason = findForeignSign(headers, method);
    if (reason !== undefined) throw new SkillgateError("REQUEST_FOREIGN", sentence("REQUEST_FOREIGN", reason));
    await next();
  };
}

function findForeignSign(headers: IncomingHttpHeaders, method: string): string | undefined {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none")
    return `Sec-Fetch-Site is ${JSON.stringify(site)}`;
  const { origin, host } = headers;
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host))
    return "its origin is not this server";
  if (method !== "GET" && method !== "HEAD" && headers[CONSOLE_HEADER] === undefined)
    return `it has no header ${CONSOLE_HEADER}`;
  return undefined;
}

/** The name has the port, because browsers send the cookies of a host to all its ports. */
export function getCookieName({ url }: Pick<HttpServices, "url">): string {
  return `skillgate_${new URL(url()).port || "console"}`;
}

/**
 * Identifies the person at the browser by the header `Authorization`, else by the cookie of the session. The credential of a
 * session is checked with each request: a revoked key ends its sessions.
 */
export function requireLogin(services: HttpServices, sessions: ConsoleSessions): MiddlewareHandler<ConsoleEnvironment> {
  return async (c, next) => {
    const { caller, life, ended } = await identify(c, services, sessions);
    closeAfterCredential(c.env.outgoing, life);
    c.set("caller", caller);
    c.set("life", life);
    c.set("ended", ended);
    await next();
  };
}

type Login = Extract<Authentication, { readonly kind: "caller" }> & { readonly ended?: AbortSignal };

async function identify(
  c: Context<ConsoleEnvironment>,
  services: HttpServices,
  sessions: ConsoleSessions,
): Promise<Login> {
  const sender = c.get("sender");
  if (sender.kind === "caller") return sender;
  const secret = getCookie(c, getCookieName(services));
  const session = secret === undefined ? undefined : sessions.find(secret);
  if (secret === undefined || session === undefined) throw createLoginError("log in first");
  const authentication = await checkCredential(session.credential, services);
  if (authentication.kind === "caller") return { ...authentication, ended: session.ended };
  sessions.close(secret);
  throw createLoginError("the login has ended, because its token or key is not valid any more");
}

/** Returns the caller of a credential as it is now. */
export async function checkCredential(
  credential: NonNullable<ReturnType<ConsoleSessions["find"]>>["credential"],
  { authenticator }: Pick<HttpServices, "authenticator">,
): Promise<Authentication> {
  if (credential.kind === "link") return OWNER_AUTHENTICATION;
  return authenticator.authenticate({ authorization: `Bearer ${credential.token}` });
}

function createLoginError(values: string): SkillgateError {
  return new SkillgateError("LOGIN_MISSING", sentence("LOGIN_MISSING", values));
}
