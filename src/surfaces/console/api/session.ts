import { deleteCookie, getCookie, setCookie } from "hono/cookie";

import { sentence, SkillgateError } from "../../../errors.ts";
import { mayAdminister, OWNER } from "../../../model/caller.ts";
import { VERSION } from "../../../shared/version.ts";
import type { SessionInfo } from "../messages.ts";
import { readObject, readText } from "../read-body.ts";
import { checkCredential, getCookieName } from "../security/guard.ts";
import type { LoginCredential } from "../security/sessions.ts";
import type { AddConsoleApi, ConsoleServices } from "../services.ts";

/** Adds the login, which requires no session. */
export const addLoginApi: AddConsoleApi = (api, services) => {
  const { http, sessions } = services;
  api.post("/session", async (c) => {
    const credential = await readCredential(await readObject(c, http), services);
    const secret = sessions.open(credential);
    const isHttps = new URL(c.req.url).protocol === "https:" || c.req.header("x-forwarded-proto") === "https";
    setCookie(c, getCookieName(http), secret, {
      path: "/console",
      httpOnly: true,
      sameSite: "Strict",
      secure: isHttps,
    });
    return c.body(null, 204);
  });
};

export const addSessionApi: AddConsoleApi = (api, { http, sessions }) => {
  api.get("/session", (c) => {
    const { id, admin } = c.get("caller");
    const caller = c.get("caller");
    const info: SessionInfo = {
      caller: id,
      isOwner: id === OWNER.id,
      admin: mayAdminister(caller, "write") ? "write" : (admin ?? null),
      version: VERSION,
      hasLogin: http.settings.auth,
    };
    return c.json(info);
  });
  api.delete("/session", (c) => {
    const name = getCookieName(http);
    const secret = getCookie(c, name);
    if (secret !== undefined) sessions.close(secret);
    deleteCookie(c, name, { path: "/console" });
    return c.body(null, 204);
  });
};

/** Checks a one-time code, or a token or key; throws `LOGIN_INVALID`. */
async function readCredential(
  body: Readonly<Record<string, unknown>>,
  { http, sessions }: ConsoleServices,
): Promise<LoginCredential> {
  if (body["code"] !== undefined) {
    if (sessions.redeem(readText(body, "code"))) return { kind: "link" };
    throw new SkillgateError("LOGIN_INVALID", sentence("LOGIN_INVALID", "the link was used before, or has expired"));
  }
  const token = readText(body, "token").trim();
  const credential = { kind: "token", token } as const;
  if (/^\S+$/.test(token) && (await checkCredential(credential, http)).kind === "caller") return credential;
  throw new SkillgateError("LOGIN_INVALID", sentence("LOGIN_INVALID", "the token or key is not valid"));
}
