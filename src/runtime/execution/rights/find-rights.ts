import { createKeys } from "../../../keys/index.ts";
import { type AccessToken, type Caller, isCurrent } from "../../../model/caller.ts";
import type { Database } from "../../../store/index.ts";

/** The rights with which a run continues that has waited. */
export type RunRights =
  | { readonly kind: "valid"; readonly caller: Caller }
  /** The key of the caller is not valid any more: the run ends. */
  | { readonly kind: "ended" }
  /** The access token has ended: the run waits until its caller comes with a valid one. */
  | { readonly kind: "unproved"; readonly token: AccessToken };

/**
 * Finds the rights that the caller of a run has now: those of its key, or those of the token of `by`, if that is the same caller.
 * A recorded token counts until it ends.
 */
export async function findRights(caller: Caller, open: () => Promise<Database>, by?: Caller): Promise<RunRights> {
  const { token, profile } = caller;
  const inProfile = (current: Caller): Caller => ({ ...current, ...(profile !== undefined && { profile }) });
  if (token !== undefined) {
    const isSame = by?.id === caller.id && by.token?.issuer === token.issuer;
    if (isSame && isCurrent(by.token)) return { kind: "valid", caller: inProfile(by) };
    return isCurrent(token) ? { kind: "valid", caller } : { kind: "unproved", token };
  }
  const key = await createKeys(await open()).findCaller(caller.id);
  if (key === undefined) return { kind: "valid", caller };
  return key.state === "active" ? { kind: "valid", caller: inProfile(key.caller) } : { kind: "ended" };
}
