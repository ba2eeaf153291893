import { createError, type SkillgateError } from "../errors.ts";

/** The kinds of permissions, each with an example. */
export const PERMISSION_FORMS = { call: "call:MathSkill.*", see: "see:MathSkill.*", admin: "admin:Read" } as const;

export type PermissionKind = keyof typeof PERMISSION_FORMS;

/** A set of texts, such as paths of methods. */
export interface PatternSet {
  /** True if it has every text. */
  readonly isAll: boolean;
  readonly has: (path: string) => boolean;
}

/** The methods of a right, and parts of methods: `TrackerGraph.query` has all its parts, `TrackerGraph.query:issues` one. */
export interface MethodSet {
  /** True if it has every method. */
  readonly isAll: boolean;
  /**
   * True for a method or a part that it has. A method with parts is decided on by each part that a call contains, so it has that method
   * if it has a part of it.
   */
  readonly has: (path: string, hasParts?: boolean) => boolean;
}

/** The rights that permissions give: the methods to call, further methods to see, and the rights to administer. */
export interface Rights {
  readonly call: MethodSet;
  readonly see: MethodSet;
  readonly admin: readonly string[];
}

const RIGHTS = new WeakMap<readonly string[], Rights>();

/** Parses the permissions of a caller or a profile, each list once. Throws `OPTION_INVALID` for one that is not valid. */
export function getRights({ permissions }: { readonly permissions: readonly string[] }): Rights {
  const parsed = RIGHTS.get(permissions);
  if (parsed !== undefined) return parsed;
  const rights = parseRights(permissions);
  RIGHTS.set(permissions, rights);
  return rights;
}

function parseRights(permissions: unknown): Rights {
  if (!Array.isArray(permissions)) throw createPermissionError("permissions must be a list");
  const parts = permissions.map(requirePermission);
  const listValues = (kind: PermissionKind): readonly string[] =>
    parts.filter((part) => part.kind === kind).map(({ value }) => value);
  return {
    call: createMethodSet(listValues("call")),
    see: createMethodSet(listValues("see")),
    admin: listValues("admin"),
  };
}

function requirePermission(text: unknown): { readonly kind: string; readonly value: string } {
  const part = splitPermission(String(text));
  if (Object.hasOwn(PERMISSION_FORMS, part.kind) && part.value !== "") return part;
  throw createPermissionError(`${JSON.stringify(text)} is not a permission`);
}

function createPermissionError(what: string): SkillgateError {
  const forms = Object.values(PERMISSION_FORMS).join(", ");
  return createError("OPTION_INVALID", `${what}. Write texts such as ${forms}`);
}

/** Splits `call:MathSkill.*` at the first colon. */
export function splitPermission(text: string): { readonly kind: string; readonly value: string } {
  const colon = text.indexOf(":");
  return colon < 0 ? { kind: text, value: "" } : { kind: text.slice(0, colon), value: text.slice(colon + 1) };
}

function createMethodSet(patterns: readonly string[]): MethodSet {
  const { isAll, has } = createPatternSet(patterns);
  const ofParts = createPatternSet(patterns.flatMap((pattern) => findMethodPath(pattern) ?? []));
  return {
    isAll,
    has(path, hasParts = false) {
      const method = findMethodPath(path);
      return has(path) || (method !== undefined && has(method)) || (hasParts && ofParts.has(path));
    },
  };
}

/** Returns the set of the texts that match one of the patterns: `MathSkill.add`, `MathSkill.*` or `*`. */
export function createPatternSet(patterns: readonly string[]): PatternSet {
  const paths = new Set(patterns);
  const isAll = paths.has("*");
  const matchers = patterns.filter((pattern) => pattern.includes("*")).map(createPathMatcher);
  return { isAll, has: (path) => isAll || paths.has(path) || matchers.some((matches) => matches(path)) };
}

/** Returns the path of the method of a part, `TrackerGraph.mutate` for `TrackerGraph.mutate:createIssue`; `undefined` for another path. */
export function findMethodPath(path: string): string | undefined {
  const end = path.indexOf(":");
  return end <= 0 ? undefined : path.slice(0, end);
}

/**
 * Returns a function that says whether a pattern matches a path, for many paths. A `*` stands for any run of characters;
 * everything else is literal, and case counts.
 */
export function createPathMatcher(pattern: string): (path: string) => boolean {
  const parts = pattern.split("*");
  const first = parts[0] ?? "";
  if (parts.length === 1) return (path) => path === pattern;
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
