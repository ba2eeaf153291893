import { createError } from "../errors.ts";
import { type Client, CLIENT_REQUESTS, type ClientRequest } from "./client-requests.ts";
import { toRecord } from "./json.ts";
import { createPathMatcher, createPatternSet, findMethodPath, getRights, type Rights } from "./permissions.ts";
import type { Profile } from "./tools/profile.ts";

/** The client on whose behalf a run happens. Permissions are checked on every call, so runs can share a caller. */
export interface Caller {
  readonly id: string;
  /**
   * The rights of the caller: `call:MathSkill.*` sees and calls methods, `see:MathSkill.*` sees them in searches, descriptions and
   * messages, `admin:Read` administers. A `*` stands for any run of characters. The list is read once and must not change.
   */
  readonly permissions: readonly string[];
  /** Scopes that the caller holds; a `*` stands for any run of characters. Without this list it holds none. */
  readonly scopes?: readonly string[];
  /** Names of roles, which the policy maps to scopes. */
  readonly roles?: readonly string[];
  /** The most that the caller may do, over all methods. */
  readonly limits?: CallLimits;
  /** Limits what the caller may see and call to a subset of the methods; the permissions count as well. */
  readonly profile?: Profile;
  /** The requests that its client answers; methods that need others are neither shown nor called. None by default. */
  readonly answers?: readonly ClientRequest[];
  /** True for the pages of MCP Apps that its client shows, which call tools that models do not have. */
  readonly isPage?: boolean;
  /** The access token that its rights come from; absent for rights without an end, and for those of keys. */
  readonly token?: AccessToken;
}

/** The facts of an access token that prove rights later. */
export interface AccessToken {
  readonly issuer: string;
  /** The time from which on the server does not accept it, in milliseconds since 1970. */
  readonly until: number;
}

/** True for rights without an end, too. */
export function isCurrent(token: AccessToken | undefined): boolean {
  return token === undefined || token.until > Date.now();
}

/** The limits of a caller. All numbers are whole and at least 1. */
export interface CallLimits {
  /** The most calls in any minute and in any hour. */
  readonly perMinute?: number;
  readonly perHour?: number;
  /** The most programs at the same time; further ones wait. */
  readonly maxRunning?: number;
  /** The share of computing time beside other callers; 1 by default. A caller with 2 gets twice as much. */
  readonly weight?: number;
}

/** The rights to administer that a caller can have, each with what it permits. Each includes `Read`. Only the owner also has `ManageKeys`. */
export const ADMIN_RIGHTS = {
  Read: "sees runs of others, approvals, keys, policy, audit log and metrics",
  AnswerApprovals: "answers approvals of the calls of others",
  ManageRuns: "resumes and cancels runs of others, and uses the chat",
  ManageServers: "changes servers, skills and their settings: runs commands as this user",
} as const;

export type AdminRight = keyof typeof ADMIN_RIGHTS | "ManageKeys";

const ALL_ADMIN_RIGHTS = [...Object.keys(ADMIN_RIGHTS), "ManageKeys"] as readonly AdminRight[];

/** Scopes by the name of a role. */
export type Roles = ReadonlyMap<string, readonly string[]>;

/** Stands for a run without a caller: everything is allowed. */
export const OWNER: Caller = Object.freeze({
  id: "owner",
  permissions: Object.freeze(["call:*", ...ALL_ADMIN_RIGHTS.map((right) => `admin:${right}`)]),
  scopes: Object.freeze(["*"]),
});

/** Returns the caller of options that plain JavaScript may have written: the owner for `undefined` alone. Throws `OPTION_INVALID`. */
export function requireCaller(caller: Caller | undefined): Caller {
  if (caller === undefined) return OWNER;
  const { id }: { readonly id?: unknown } = toRecord(caller);
  if (typeof id === "string") return caller;
  throw createError("OPTION_INVALID", 'caller must be an object, as in { id: "ada", permissions: ["call:*"] }');
}

/** Returns the name of the key whose caller has this id; `undefined` for another caller. */
export function findKeyName(id: string): string | undefined {
  return /^key:(.+):[0-9a-z]{12}$/.exec(id)?.[1];
}

/** `the key ada` for the caller of a key, else `the caller "eve"`. */
export function formatCaller({ id }: Pick<Caller, "id">): string {
  const name = findKeyName(id);
  return name === undefined ? `the caller ${JSON.stringify(id)}` : `the key ${name}`;
}

/** Returns the required scopes that a caller does not hold, neither itself nor by a role. */
export function findMissingScopes(
  caller: Pick<Caller, "scopes" | "roles">,
  required: readonly string[],
  roles: Roles,
): readonly string[] {
  if (required.length === 0) return [];
  const patterns = createPatternSet([
    ...(caller.scopes ?? []),
    ...(caller.roles ?? []).flatMap((role) => roles.get(role) ?? []),
  ]);
  return required.filter((scope) => !patterns.has(scope));
}

type Permitted = Pick<Caller, "permissions" | "profile">;

export function mayAdminister(caller: Permitted, right: AdminRight): boolean {
  const { admin } = getRights(caller);
  return admin.includes(right) || (right === "Read" && admin.length > 0);
}

export function listAdminRights(caller: Permitted): readonly AdminRight[] {
  return ALL_ADMIN_RIGHTS.filter((right) => mayAdminister(caller, right));
}

/** Throws `ADMIN_MISSING` for a caller without the right. */
export function requireAdmin(caller: Permitted, right: AdminRight): void {
  if (mayAdminister(caller, right)) return;
  const values = right === "ManageKeys" ? "only the owner creates and changes keys" : `it requires admin:${right}`;
  throw createError("ADMIN_MISSING", values);
}

/** True for a caller from whom no method is hidden. */
export function mayReadAll(caller: Permitted): boolean {
  const { call, see } = getRights(caller);
  return caller.profile === undefined && (call.isAll || see.isAll);
}

export function mayCallAll(caller: Permitted): boolean {
  return caller.profile === undefined && getRights(caller).call.isAll;
}

/** `hasParts` is true for a method that is decided on by its parts: the right to one of them opens it. */
export function mayCall(caller: Permitted, path: string, hasParts = false): boolean {
  const { profile } = caller;
  if (!getRights(caller).call.has(path, hasParts)) return false;
  return profile === undefined || (getRights(profile).call.has(path, hasParts) && !isExcepted(profile, path));
}

/** Takes `hasParts` as `mayCall` does. */
export function mayRead(caller: Permitted, path: string, hasParts = false): boolean {
  const { profile } = caller;
  const isReadable = ({ call, see }: Rights): boolean => call.has(path, hasParts) || see.has(path, hasParts);
  if (!isReadable(getRights(caller))) return false;
  return profile === undefined || (isReadable(getRights(profile)) && !isExcepted(profile, path));
}

/** A method that is excepted is excepted with its parts. */
function isExcepted({ except }: Profile, path: string): boolean {
  const paths = [path, findMethodPath(path) ?? path];
  return except.map(createPathMatcher).some((matches) => paths.some(matches));
}

/** Returns a caller with the requests that its client answers. */
export function withAnswers(caller: Caller, client: Pick<Client, "can"> | undefined): Caller {
  const answers = CLIENT_REQUESTS.filter((request) => client?.can(request) === true);
  return answers.length === 0 ? caller : { ...caller, answers };
}

/** Returns the same caller for calls of the pages that its client shows. Programs and models never get it. */
export function asPage(caller: Caller): Caller {
  return { ...caller, isPage: true };
}
