import { cutText } from "../format-text.ts";

/** Longest skill name in UTF-16 units; what is over it is cut. */
const SKILL_NAME_UNITS = 64;

/** Longest method name in UTF-16 units: the longest tool name that MCP recommends. */
const METHOD_NAME_UNITS = 128;

/** Names that would break JavaScript as members: promises, coercion and prototypes look them up by themselves. */
const UNSAFE_MEMBERS: ReadonlySet<string> = new Set([
  "then",
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "toJSON",
]);

/** Characters that an identifier may not have, and invisible ones that it may have. */
const NOT_IN_IDENTIFIER = /[^\p{ID_Continue}$]|\p{Default_Ignorable_Code_Point}/gu;

/**
 * The skill name of an MCP server (N1): the parts between characters that are neither letters nor digits, each with its
 * first letter in upper case, then `MCP`. `brave-search` → `BraveSearchMCP`; a leading digit gets the prefix `Server`.
 */
export function toSkillName(server: string): string {
  const parts = cutText(server, 4 * SKILL_NAME_UNITS)
    .normalize("NFC")
    .split(/[^\p{L}\p{M}\p{Nd}\p{Nl}]+|\p{Default_Ignorable_Code_Point}/u);
  const joined = parts.map(capitalize).join("");
  const started = /^\p{ID_Start}/u.test(joined) ? joined : `Server${joined}`;
  return `${cutText(started, SKILL_NAME_UNITS - "MCP".length)}MCP`;
}

/**
 * The method names of a server's tools (N2), one per tool, in their order. What an identifier cannot hold becomes `_`.
 * Tools that map to one name get `_2`, `_3` …: a tool that has the name by itself keeps it, the others follow in the order
 * of their own names, so that a server that lists its tools in another order changes nothing.
 */
export function toMethodNames(tools: readonly string[]): readonly string[] {
  const names = tools.map(toMemberName);
  const used = new Set<string>();
  const lastSuffix = new Map<string, number>();
  for (const index of claimOrder(tools, names)) {
    const preferred = names[index] ?? "";
    const name = freeName(preferred, used, lastSuffix);
    used.add(name);
    names[index] = name;
  }
  return names;
}

/** True for what can stand after a dot, in the form that this project hands out: visible and safe as a member. */
export function isMemberName(name: string): boolean {
  return name !== "" && toMemberName(name) === name;
}

function toMemberName(tool: string): string {
  const mapped = cutText(tool, METHOD_NAME_UNITS).normalize("NFC").replace(NOT_IN_IDENTIFIER, "_");
  const started = /^[\p{ID_Start}$_]/u.test(mapped) ? mapped : `_${mapped}`;
  const name = cutText(started, METHOD_NAME_UNITS);
  return UNSAFE_MEMBERS.has(name) ? `${name}_` : name;
}

/** Indexes of the tools: those whose name needed no change first, the rest sorted by the tool's own name. */
function claimOrder(tools: readonly string[], names: readonly string[]): readonly number[] {
  const changed = (index: number): number => (tools[index] === names[index] ? 0 : 1);
  return [...tools.keys()].sort(
    (a, b) => changed(a) - changed(b) || compareText(tools[a] ?? "", tools[b] ?? "") || a - b,
  );
}

function freeName(preferred: string, used: ReadonlySet<string>, lastSuffix: Map<string, number>): string {
  if (!used.has(preferred)) return preferred;
  for (let number = (lastSuffix.get(preferred) ?? 1) + 1; ; number++) {
    const suffix = `_${number}`;
    const name = cutText(preferred, METHOD_NAME_UNITS - suffix.length) + suffix;
    if (used.has(name)) continue;
    lastSuffix.set(preferred, number);
    return name;
  }
}

/** By UTF-16 units, so that no locale changes a name. */
function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function capitalize(part: string): string {
  const first = String.fromCodePoint(part.codePointAt(0) ?? 0);
  return part === "" ? "" : first.toUpperCase() + part.slice(first.length);
}

/** Longest path of a method or a skill, and longest name of a tool. */
export const MAX_PATH_UNITS = 512;
export const MAX_TOOL_NAME_UNITS = 256;
