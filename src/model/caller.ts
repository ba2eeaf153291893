import { sentence, SkillgateError } from "../errors.ts";
import { type Client, CLIENT_REQUESTS, type ClientRequest } from "./client-requests.ts";
import type { Profile } from "./tools/profile.ts";

/** A pattern of method paths: `MathSkill.add`, `MathSkill.*` or `*`. */
export type Grant = string;

/** The client on whose behalf a run happens. Grants are checked on every call, so runs can share a caller. */
export interface Caller {
  readonly id: string;
  /** Methods that the caller may call. */
  readonly grants: readonly Grant[];
  /** Further methods that the caller may see (search, describe, messages) but not call. */
  readonly reads?: readonly Grant[];
  /** Scopes that the caller holds; a `*` stands for any run of characters. Without this list it holds none. */
  readonly scopes?: readonly string[];
  /** Names of roles, which the policy maps to scopes. */
  readonly roles?: readonly string[];
  /** The most that the caller may do, over all methods. */
  readonly limits?: CallLimits;
  /** Limits what the caller may see and call to a subset of the methods; the grants count as well. */
  readonly profile?: Profile;
  /** The requests that its client answers; methods that need others are neither shown nor called. None by default. */
  readonly answers?: readonly ClientRequest[];
  /** The rights to administer the runtime; each includes `Read`. */
  readonly admin?: readonly AdminRight[];
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

/** The rights to administer that a caller can have, each with what it permits. Only the owner also has `ManageKeys`. */
export const ADMIN_RIGHTS = {
  Read: "sees runs of others, approvals, keys, policy, audit log and metrics",
  AnswerApprovals: "answers approvals of the calls of others",
  ManageRuns: "resumes and cancels runs of others, and uses the chat",
  ManageServers: "changes servers, skills and their settings: runs commands as this user",
} as const;

export type AdminRight = keyof typeof ADMIN_RIGHTS | "ManageKeys";

/** Scopes by the name of a role. */
export type Roles = ReadonlyMap<string, readonly string[]>;

/** Stands for a run without a caller: everything is granted. */
export const OWNER: Caller = Object.freeze({
  id: "owner",
  grants: Object.freeze(["*"]),
  scopes: Object.freeze(["*"]),
  admin: Object.freeze<AdminRight[]>(["Read", "AnswerApprovals", "ManageRuns", "ManageServers", "ManageKeys"]),
});

/** `the key ada` for the caller of a key, else `the caller "eve"`. */
export function formatCaller({ id }: Pick<Caller, "id">): string {
  const name = /^key:(.+):[0-9a-z]{12}$/.exec(id)?.[1];
  return name === undefined ? `the caller ${JSON.stringify(id)}` : `the key ${name}`;
}

/** Returns the required scopes that a caller does not hold, neither itself nor by a role. */
export function findMissingScopes(
  caller: Pick<Caller, "scopes" | "roles">,
  required: readonly string[],
  roles: Roles,
): readonly string[] {
  if (required.length === 0) return [];
  const patterns = [...(caller.scopes ?? []), ...(caller.roles ?? []).flatMap((role) => roles.get(role) ?? [])];
  return required.filter((scope) => !patterns.some((pattern) => grantCovers(pattern, scope)));
}

export function mayAdminister({ admin = [] }: Pick<Caller, "admin">, right: AdminRight): boolean {
  return admin.includes(right) || (right === "Read" && admin.length > 0);
}

/** Throws `ADMIN_MISSING` for a caller without the right. */
export function requireAdmin(caller: Pick<Caller, "admin">, right: AdminRight): void {
  if (mayAdminister(caller, right)) return;
  const values = right === "ManageKeys" ? "only the owner creates and changes keys" : `it requires admin:${right}`;
  throw new SkillgateError("ADMIN_MISSING", sentence("ADMIN_MISSING", values));
}

/** True for a caller from whom no method is hidden. */
export function mayReadAll({ profile, grants, reads = [] }: Caller): boolean {
  return profile === undefined && [...grants, ...reads].includes("*");
}

export function mayCall(caller: Caller, path: string): boolean {
  return isInProfile(caller.profile, path) && caller.grants.some((grant) => grantCovers(grant, path));
}

export function mayRead(caller: Caller, path: string): boolean {
  if (mayCall(caller, path)) return true;
  return isInProfile(caller.profile, path) && (caller.reads ?? []).some((grant) => grantCovers(grant, path));
}

/** Returns a caller with the requests that its client answers. */
export function withAnswers(caller: Caller, client: Pick<Client, "can"> | undefined): Caller {
  const answers = CLIENT_REQUESTS.filter((request) => client?.can(request) === true);
  return answers.length === 0 ? caller : { ...caller, answers };
}

function isInProfile(profile: Profile | undefined, path: string): boolean {
  if (profile === undefined) return true;
  const { methods, except } = profile;
  return methods.some((grant) => grantCovers(grant, path)) && !except.some((grant) => grantCovers(grant, path));
}

function grantCovers(grant: Grant, path: string): boolean {
  return grant === "*" || grant === path || createPathMatcher(grant)(path);
}

/**
 * Returns a function that says whether a grant covers a path, for many paths. A `*` stands for any run of characters;
 * everything else is literal, and case counts.
 */
export function createPathMatcher(grant: Grant): (path: string) => boolean {
  const parts = grant.split("*");
  const first = parts[0] ?? "";
  if (parts.length === 1) return (path) => path === grant;
  const last = parts.at(-1) ?? "";
  const inner = parts.slice(1, -1).filter((part) => part !== "");
  return (path) => {
    if (!path.startsWith(first) || !path.endsWith(last) || path.length < first.length + last.length) return false;
    let from = first.length;
    for (const part of inner) {
      const at = path.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return from <= path.length - last.length;
  };
}
