import { signal } from "@preact/signals";

import type { ProblemDetails, SessionInfo } from "../../messages.ts";
import { loginListeners, request, toProblem } from "../api.ts";

/** The login of this browser. */
export type SessionState =
  | { readonly kind: "loading" }
  | { readonly kind: "closed"; readonly reason: ProblemDetails | undefined }
  | { readonly kind: "failed"; readonly error: ProblemDetails }
  | { readonly kind: "open"; readonly info: SessionInfo };

export const session = signal<SessionState>({ kind: "loading" });

loginListeners.add((reason) => {
  session.value = { kind: "closed", reason: session.value.kind === "open" ? reason : undefined };
});

/** Redeems the code of a login link, if the address has one, and asks who is logged in. */
export async function loadSession(): Promise<void> {
  try {
    const code = location.hash.slice(1);
    if (location.pathname === "/login" && code !== "") {
      history.replaceState(null, "", "/");
      await request("/session", { method: "POST", body: { code } });
    }
    session.value = { kind: "open", info: await request<SessionInfo>("/session") };
  } catch (error) {
    const problem = toProblem(error);
    if (problem.code === "LOGIN_INVALID") session.value = { kind: "closed", reason: problem };
    else if (problem.code !== "LOGIN_MISSING") session.value = { kind: "failed", error: problem };
  }
}

/** Logs in with a token or a key; throws `ApiError`. */
export async function logIn(token: string): Promise<void> {
  await request("/session", { method: "POST", body: { token } });
  await loadSession();
}

export async function logOut(): Promise<void> {
  await request("/session", { method: "DELETE" });
  session.value = { kind: "closed", reason: undefined };
}
