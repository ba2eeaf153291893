import { waitAtMost } from "../../shared/run-with-timeout.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { type Caller, mayCallAll } from "../../model/caller.ts";
import type { ServedProfile } from "../../model/tools/profile.ts";
import type { SharedRuntime } from "../../runtime/api/view.ts";
import type { Principal } from "./sessions/client-session.ts";
import { READY_MS } from "./tools/tool-calls.ts";

/** A profile that a caller asked for by name and that does not exist for it. */
export interface UnknownProfile {
  readonly message: string;
  /** The names of profiles that the caller may know. */
  readonly names: readonly string[];
}

/** Returns the principal as a profile limits it; the error for a profile without a method that the caller may read. */
export async function selectProfile(
  runtime: SharedRuntime,
  principal: Principal,
  name: string,
): Promise<Principal | UnknownProfile> {
  const { caller } = principal;
  const served = runtime.profiles.get(name);
  if (served !== undefined && !isKnown(runtime, caller, served)) await waitAtMost(READY_MS, runtime.known);
  if (served !== undefined && isKnown(runtime, caller, served)) return applyProfile(principal, served);
  const names = [...runtime.profiles].filter(([, each]) => isKnown(runtime, caller, each)).map(([each]) => each);
  const otherwise =
    names.length === 0 ? "the settings have no profile for this caller" : `there are ${names.join(", ")}`;
  return { message: describeUnknownName("profile", name, names, { otherwise }).message, names };
}

/** The owner knows every profile; another caller knows those with a method that it may read. */
function isKnown(runtime: SharedRuntime, caller: Caller, { profile }: ServedProfile): boolean {
  return mayCallAll(caller) || runtime.viewFor({ ...caller, profile }).catalog.skills.length > 0;
}

function applyProfile(principal: Principal, { profile, exposure, instructions }: ServedProfile): Principal {
  return {
    ...principal,
    caller: { ...principal.caller, profile },
    exposure: { ...principal.exposure, ...exposure },
    ...(instructions !== undefined && { instructions }),
  };
}
