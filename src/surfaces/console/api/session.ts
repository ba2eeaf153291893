import { deleteCookie, getCookie, setCookie } from "hono/cookie";

import { sentence, SkillgateError } from "../../../errors.ts";
import { listAdminRights, OWNER } from "../../../model/caller.ts";
import { VERSION } from "../../../shared/version.ts";
import { type Endpoints, type JsonObject, readText } from "../endpoints.ts";
import type { SessionInfo } from "../messages.ts";
import { checkCredential, getCookieName } from "../security/guard.ts";
import type { LoginCredential } from "../security/sessions.ts";
import type { ConsoleServices } from "../services.ts";

/** The login, which requires no session. */
export function createLoginEndpoints(services: ConsoleServices): Endpoints {
  const { http, sessions } = services;
  return {
    "POST /session": async ({ c, readBody }) => {
      const { credential, caller } = await readCredential(await readBody(), services);
      const secret = sessions.open(credential, caller);
      const isHttps = new URL(c.req.url).protocol === "https:" || c.req.header("x-forwarded-proto") === "https";
      const options = { path: "/console", httpOnly: true, sameSite: "Strict", secure: isHttps } as const;
      setCookie(c, getCookieName(http), secret, options);
    },
  };
}

export function createSessionEndpoints({ http, sessions }: ConsoleServices): Endpoints {
  return {
    "GET /session": ({ view: { caller } }): SessionInfo => ({
      caller: caller.id,
      isOwner: caller.id === OWNER.id,
      admin: listAdminRights(caller),
      version: VERSION,
      hasLogin: http.settings.auth,
    }),
    "DELETE /session": ({ c }) => {
      const name = getCookieName(http);
      const secret = getCookie(c, name);
      if (secret !== undefined) sessions.close(secret);
      deleteCookie(c, name, { path: "/console" });
    },
  };
}

interface CheckedCredential {
  readonly credential: LoginCredential;
  /** The id of the caller. */
  readonly caller: string;
}

/** Checks a one-time code, or a token or key; throws `LOGIN_INVALID`. */
async function readCredential(body: JsonObject, { http, sessions }: ConsoleServices): Promise<CheckedCredential> {
  if (body["code"] !== undefined) {
    if (sessions.redeem(readText(body, "code"))) return { credential: { kind: "link" }, caller: OWNER.id };
    throw new SkillgateError("LOGIN_INVALID", sentence("LOGIN_INVALID", "the link was used before, or has expired"));
  }
  const token = readText(body, "token").trim();
  const credential = { kind: "token", token } as const;
  const sender = /^\S+$/.test(token) ? await checkCredential(credential, http) : undefined;
  if (sender?.kind === "caller") return { credential, caller: sender.caller.id };
  throw new SkillgateError("LOGIN_INVALID", sentence("LOGIN_INVALID", "the token or key is not valid"));
}
