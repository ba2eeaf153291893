import { ADMIN_RIGHTS } from "../model/caller.ts";
import { PERMISSION_FORMS, type PermissionKind, splitPermission } from "../model/permissions.ts";
import { quote } from "../shared/format-text.ts";
import { describeUnknownName } from "../shared/suggest.ts";

/** The permissions that the words of earlier versions stand for. `ToolInvoke` and `ToolRead` take a pattern. */
const OLD_WORDS: Readonly<Record<string, (pattern: string) => readonly string[]>> = {
  ToolInvoke: (pattern) => [`call:${pattern}`],
  ToolRead: (pattern) => [`see:${pattern}`],
  ToolsListAll: () => ["see:*"],
  AdminRead: () => ["admin:Read"],
  AdminWrite: () => ["admin:AnswerApprovals", "admin:ManageRuns"],
};

/** Returns a permission in the notation of today: more than one for `AdminWrite`, the same text for any other. */
export function toNotation(text: string): readonly string[] {
  const [, word = "", pattern = ""] = /^([A-Za-z]+)(?:\((.*)\))?$/s.exec(text) ?? [];
  return Object.hasOwn(OLD_WORDS, word) ? (OLD_WORDS[word]?.(pattern) ?? []) : [text];
}

/** Returns what to write in place of the words of earlier versions; `undefined` if there are none among the permissions. */
export function findOldWords(permissions: readonly string[]): string | undefined {
  const old = permissions.filter((text) => toNotation(text)[0] !== text);
  if (old.length === 0) return undefined;
  const [are, lost] = [
    old.length === 1 ? "is" : "are",
    old.includes("AdminWrite") ? "; changing servers and skills now needs admin:ManageServers, by name" : "",
  ];
  return `${old.join(", ")} ${are} written ${old.flatMap(toNotation).join(", ")} today${lost}`;
}

/** Returns what is wrong with the first text that is not a permission, and what to write instead; `undefined` if all are. */
export function findPermissionFlaw(permissions: readonly string[]): string | undefined {
  return permissions
    .flatMap(toNotation)
    .map(findFlaw)
    .find((flaw) => flaw !== undefined);
}

function findFlaw(text: string): string | undefined {
  const { kind, value } = splitPermission(text);
  if (!Object.hasOwn(PERMISSION_FORMS, kind)) {
    const otherwise = `write ${Object.values(PERMISSION_FORMS).join(", ")}`;
    return describeUnknownName("permission", kind, Object.keys(PERMISSION_FORMS), { otherwise }).message;
  }
  if (value === "") return `${kind} requires a value. Write ${PERMISSION_FORMS[kind as PermissionKind]}`;
  if (kind !== "admin") {
    const flaw = findPatternFlaw(value);
    return flaw && `${quote(text)}: ${flaw}`;
  }
  if (Object.hasOwn(ADMIN_RIGHTS, value)) return undefined;
  const otherwise = `write ${Object.keys(ADMIN_RIGHTS)
    .map((right) => `admin:${right}`)
    .join(", ")}`;
  return describeUnknownName("right to administer", value, Object.keys(ADMIN_RIGHTS), { otherwise }).message;
}

function findPatternFlaw(pattern: string): string | undefined {
  const isPlain = /^[\w$*]+(?:\.[\w$*]+){0,2}$/.test(pattern);
  if (isPlain && /[.*]/.test(pattern)) return undefined;
  const instead = isPlain ? `${pattern}.* for all methods of ${pattern}` : "Skill.method, Skill.* or *";
  return `${quote(pattern)} is not a pattern of methods. Write ${instead}`;
}
