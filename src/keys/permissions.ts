import { ADMIN_RIGHTS, type AdminRight, type Caller } from "../model/caller.ts";
import { quote } from "../shared/format-text.ts";
import { describeUnknownName } from "../shared/suggest.ts";

/** The kinds of permissions, each with the form in which it is written. */
const FORMS = { call: "call:MathSkill.*", see: "see:MathSkill.*", admin: "admin:Read" } as const;

type PermissionKind = keyof typeof FORMS;

/** The fields of a caller that permissions decide. */
type CallerRights = Pick<Caller, "grants" | "reads" | "admin">;

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

/** Returns why a text is not a permission, and what to write instead; `undefined` if it is one. */
export function findPermissionFlaw(text: string): string | undefined {
  for (const permission of toNotation(text)) {
    const flaw = findFlaw(permission);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

function findFlaw(text: string): string | undefined {
  const { kind, value } = splitPermission(text);
  if (!Object.hasOwn(FORMS, kind)) {
    const otherwise = `write ${Object.values(FORMS).join(", ")}`;
    return describeUnknownName("permission", kind, Object.keys(FORMS), { otherwise }).message;
  }
  if (value === "") return `${kind} requires a value. Write ${FORMS[kind as PermissionKind]}`;
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

/** Converts permissions without flaws. */
export function toRights(permissions: readonly string[]): CallerRights {
  const parsed = permissions.flatMap(toNotation).map(splitPermission);
  const listValues = (kind: PermissionKind): readonly string[] =>
    parsed.filter((each) => each.kind === kind).map(({ value }) => value);
  const admin = listValues("admin") as readonly AdminRight[];
  return { grants: listValues("call"), reads: listValues("see"), ...(admin.length > 0 && { admin }) };
}

function splitPermission(text: string): { readonly kind: string; readonly value: string } {
  const colon = text.indexOf(":");
  return colon < 0 ? { kind: text, value: "" } : { kind: text.slice(0, colon), value: text.slice(colon + 1) };
}
