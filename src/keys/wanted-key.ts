import { createError, type SkillgateError } from "../errors.ts";
import type { CallLimits } from "../model/caller.ts";
import { quote } from "../shared/format-text.ts";
import { findPermissionFlaw } from "./permissions.ts";

/** The properties of a key that is to be created. */
export interface WantedKey {
  readonly name: string;
  /** Such as `call:FilesystemMCP.*`; at least one. */
  readonly permissions: readonly string[];
  readonly scopes?: readonly string[];
  readonly roles?: readonly string[];
  readonly limits?: CallLimits;
  /** In milliseconds since 1970; a key without an expiry is valid until it is revoked. */
  readonly expires?: number;
}

const MAX_NAME_LENGTH = 64;
const MAX_PERMISSIONS = 1_000;

/** Throws `OPTION_INVALID` for the first property that is invalid. */
export function requireValidKey({ name, permissions, scopes = [], roles = [], limits = {}, expires }: WantedKey): void {
  if (!NAME.test(name))
    throw keyError(
      `${quote(name)} is not a name of a key. Write 1 to ${MAX_NAME_LENGTH} letters, digits, spaces and . _ @ -, of which the first is a letter or a digit`,
    );
  if (permissions.length === 0)
    throw keyError("a key requires at least one permission, such as call:MathSkill.* or call:*");
  if (permissions.length > MAX_PERMISSIONS)
    throw keyError(`a key has at most ${MAX_PERMISSIONS} permissions, not ${permissions.length}. Write patterns`);
  const flaw = findPermissionFlaw(permissions);
  if (flaw !== undefined) throw keyError(flaw);
  for (const scope of scopes) if (!WORD.test(scope)) throw keyError(`${quote(scope)} is not a scope. ${WORD_FORM}`);
  for (const role of roles) if (!WORD.test(role)) throw keyError(`${quote(role)} is not a role. ${WORD_FORM}`);
  for (const [limit, value] of Object.entries(limits))
    if (!Number.isSafeInteger(value) || value < 1)
      throw keyError(`${limit} must be a whole number from 1, not ${String(value)}`);
  if (expires !== undefined) requireFuture(expires);
}

/** Throws `OPTION_INVALID` if a time is over. */
export function requireFuture(expires: number): void {
  if (expires > Date.now()) return;
  const time = new Date(expires).toISOString();
  throw keyError(`the expiry ${time} is in the past. Write a later time, or a period such as 90d`);
}

export function keyError(values: string): SkillgateError {
  return createError("OPTION_INVALID", values);
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u;

/** A scope as OAuth defines it, without the characters that lists use. */
const WORD = /^[\x21\x23-\x2B\x2D-\x5B\x5D-\x7E]{1,100}$/;

const WORD_FORM = "Write 1 to 100 characters without spaces, commas, quotes and backslashes, as in tool:web";
