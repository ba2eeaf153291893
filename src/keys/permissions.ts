import type { AdminRight, Caller } from "../model/caller.ts";
import { quote } from "../shared/format-text.ts";
import { describeUnknownName } from "../shared/suggest.ts";

/** The permissions of a key, each with the form in which it is written. */
const PERMISSIONS = {
  ToolInvoke: "ToolInvoke(MathSkill.*)",
  ToolRead: "ToolRead(MathSkill.*)",
  ToolsListAll: "ToolsListAll",
  AdminRead: "AdminRead",
  AdminWrite: "AdminWrite",
} as const;

type PermissionName = keyof typeof PERMISSIONS;

/** A parsed permission; the pattern is empty for permissions that take none. */
interface Permission {
  readonly name: PermissionName;
  readonly pattern: string;
}

/** The fields of a caller that permissions decide. */
type CallerRights = Pick<Caller, "grants" | "reads" | "admin">;

/** Returns why a text is not a permission, and what to write instead; `undefined` if it is one. */
export function findPermissionFlaw(text: string): string | undefined {
  const [, name = text, pattern] = /^([A-Za-z]+)\((.*)\)$/s.exec(text) ?? [];
  const form = Object.hasOwn(PERMISSIONS, name) ? PERMISSIONS[name as PermissionName] : undefined;
  if (form === undefined) {
    const otherwise = `write ${Object.values(PERMISSIONS).join(", ")}`;
    return describeUnknownName("permission", name, Object.keys(PERMISSIONS), { otherwise }).message;
  }
  if (!form.includes("(")) return pattern === undefined ? undefined : `${name} takes no pattern. Write ${name}`;
  if (pattern === undefined)
    return `${name} requires a pattern of methods. Write ${form}, or ${name}(*) for all methods`;
  const flaw = findPatternFlaw(pattern);
  return flaw && `${quote(text)}: ${flaw}`;
}

function findPatternFlaw(pattern: string): string | undefined {
  const isPlain = /^[\w$*]+(?:\.[\w$*]+){0,2}$/.test(pattern);
  if (isPlain && /[.*]/.test(pattern)) return undefined;
  const instead = isPlain ? `${pattern}.* for all methods of ${pattern}` : "Skill.method, Skill.* or *";
  return `${quote(pattern)} is not a pattern of methods. Write ${instead}`;
}

/** Converts permissions without flaws. */
export function toRights(permissions: readonly string[]): CallerRights {
  const parsed = permissions.map(parsePermission);
  const patterns = (permission: PermissionName): readonly string[] =>
    parsed.filter(({ name }) => name === permission).map(({ pattern }) => pattern);
  const has = (permission: PermissionName): boolean => parsed.some(({ name }) => name === permission);
  const admin: AdminRight | undefined = has("AdminWrite") ? "write" : has("AdminRead") ? "read" : undefined;
  return {
    grants: patterns("ToolInvoke"),
    reads: has("ToolsListAll") ? ["*"] : patterns("ToolRead"),
    ...(admin !== undefined && { admin }),
  };
}

function parsePermission(text: string): Permission {
  const [, name = text, pattern = ""] = /^([A-Za-z]+)\((.*)\)$/s.exec(text) ?? [];
  return { name: name as PermissionName, pattern };
}
