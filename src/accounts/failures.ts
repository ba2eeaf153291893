import { createError, type SkillgateError } from "../errors.ts";
import { type Caller, findKeyName, OWNER } from "../model/caller.ts";
import { quoteForShell } from "../shared/format-text.ts";
import type { AccountDefinition } from "./definition.ts";

/** How a caller connects an account: `skillgate account connect github`, or a link. */
export type DescribeConnect = (caller: Pick<Caller, "id">, definition: AccountDefinition) => string;

/** Returns the name of an owner for people: `ada` for the key ada. */
export function getOwnerName(owner: string | null): string {
  if (owner === null) return "everyone";
  return findKeyName(owner) ?? owner;
}

/** `github (ada)` */
export function getConnectionTitle(name: string, owner: string | null): string {
  return `${name} (${getOwnerName(owner)})`;
}

/** Returns the sentence for a caller that must connect an account; a link if `baseUrl` is the address of the server. */
export function describeConnect(caller: Pick<Caller, "id">, definition: AccountDefinition, baseUrl?: string): string {
  const { name, isPerCaller } = definition;
  const command = `skillgate account connect ${name}`;
  if (caller.id === OWNER.id) return `connect it: ${command}`;
  if (!isPerCaller) return `the owner of the server connects it: ${command}`;
  // The page sends the browser to the provider and back, which a device has not.
  const hasPage = definition.type !== "oauth" || definition.grant !== "device";
  if (baseUrl !== undefined && hasPage) return `connect it: ${baseUrl}/connect/${encodeURIComponent(name)}`;
  return `the owner of the server connects it: ${command} --caller ${quoteForShell(getOwnerName(caller.id))}`;
}

/** Returns the sentence for a caller that must connect an account again with further scopes, as a service has named them. */
export function withScopes(connect: string, scopes = ""): string {
  // The sentence is for people, who copy it into a shell or a browser.
  const list = scopes.split(" ").filter((scope) => /^[\w.:/-]{1,200}$/.test(scope) && !scope.startsWith("-"));
  if (list.length === 0) return connect;
  const isLink = /^connect it: https?:/.test(connect);
  return isLink ? `${connect}?scope=${encodeURIComponent(list.join(" "))}` : `${connect} --scopes ${list.join(" ")}`;
}

/** For what a person or a program asks of accounts. */
export function requestError(values: string): SkillgateError {
  return createError("OPTION_INVALID", values);
}
