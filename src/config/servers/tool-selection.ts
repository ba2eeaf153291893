import { isRecord } from "../../model/json.ts";

/** The tools that an entry offers, by protocol name; `*` in a name stands for any characters. */
export interface ToolLists {
  /** Only these; `undefined` for all. */
  readonly enabledTools?: readonly string[];
  /** All but these. */
  readonly disabledTools: readonly string[];
}

type Entry = Readonly<Record<string, unknown>>;

/** The keys of lists of tools to offer: of Cursor and Codex, Gemini and Amp, and the list `tools` of Copilot. */
const ALLOW_KEYS = ["enabledTools", "enabled_tools", "includeTools", "tools"] as const;

const DENY_KEYS = ["disabledTools", "disabled_tools", "excludeTools"] as const;

/** Returns the lists of an entry without an objection. Lists of tools that need no approval restrict nothing. */
export function getToolLists(entry: Entry): ToolLists {
  const allowKey = ALLOW_KEYS.find((key) => isRestricting(entry, key));
  return {
    ...(allowKey !== undefined && { enabledTools: toNames(entry[allowKey]) }),
    disabledTools: DENY_KEYS.flatMap((key) => toNames(entry[key] ?? [])),
  };
}

/** Returns why the tools of an entry cannot be selected: a key that restricts them is not understood. */
export function findToolObjection(name: string, entry: unknown): string | undefined {
  if (!isRecord(entry)) return undefined;
  const prefix = `MCP server '${name}' is held back`;
  const advice = `write "enabledTools": ["…"] to offer only some tools, or "disabledTools": ["…"] to leave some out`;
  const unknownKey = findUnknownKey(entry);
  if (unknownKey !== undefined)
    return `${prefix}, as "${unknownKey}" restricts what it offers and is not known here; ${advice}`;
  const allowKeys = ALLOW_KEYS.filter((key) => isRestricting(entry, key));
  const wrong = [...allowKeys, ...DENY_KEYS].find((key) => !isNameList(entry[key] ?? []));
  if (wrong !== undefined) return `${prefix}, as "${wrong}" must be a list of names of tools; ${advice}`;
  if (allowKeys.length < 2) return undefined;
  return `${prefix}, as it has both "${allowKeys.join('" and "')}"; write "enabledTools" alone`;
}

function isRestricting(entry: Entry, key: (typeof ALLOW_KEYS)[number]): boolean {
  const value = entry[key] ?? undefined;
  return value !== undefined && !(key === "tools" && hasOnlyApprovals(value));
}

/** Codex keeps settings by tool in `tools`. */
function hasOnlyApprovals(tools: unknown): boolean {
  if (!isRecord(tools)) return false;
  return Object.values(tools).every(
    (settings) => isRecord(settings) && Object.keys(settings).every((key) => APPROVAL.test(key)),
  );
}

/** A list in one text, `"a, b"`, is not a list of names. */
function isNameList(value: unknown): boolean {
  if (typeof value === "string") return !value.includes(",");
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function toNames(value: unknown): readonly string[] {
  return [value].flat().filter((name) => typeof name === "string");
}

/** The settings of an entry that other programs keep in an object of their own. */
const NESTED_KEYS = ["options", "settings"] as const;

function findUnknownKey(entry: Entry): string | undefined {
  const nested = NESTED_KEYS.flatMap((key) => {
    const inner = entry[key];
    return isRecord(inner)
      ? Object.entries(inner).map(([name, value]) => [`${key}.${name}`, name, value] as const)
      : [];
  });
  const own = Object.entries(entry)
    .filter(([key]) => !KNOWN_KEYS.has(key))
    .map(([key, value]) => [key, key, value] as const);
  const found = [...own, ...nested].find(
    ([, key, value]) => value !== null && value !== false && soundsRestricting(key),
  );
  return found?.[0];
}

const KNOWN_KEYS: ReadonlySet<string> = new Set([...ALLOW_KEYS, ...DENY_KEYS]);

/** Lists of tools that are called without a question: `alwaysAllow`, `autoApprove`, `approval_mode`. */
const APPROVAL = /approv|always|auto|trust|confirm/i;
const RESTRICTION =
  /allow|den(?:y|ied)|block|filter|enable|disable|include|exclude|only|hid(?:e|den)|white|black|permi|restrict|available|limit|select|expose|ignore|forbid|reject|skip|omit/;
const TOOLS = /tool|method|function|prompt|resource/;
const BARE =
  /^(?:allow(?:ed|list)?|den(?:y|ied|ylist)|block(?:ed|list)?|whitelist|blacklist|includes?|excludes?|filters?|permissions?|readonly)$/;

/** Recognizes a key that restricts the tools of a server by its words. */
function soundsRestricting(key: string): boolean {
  const words = key.toLowerCase().replaceAll(/[^a-z]/g, "");
  if (APPROVAL.test(words)) return false;
  return BARE.test(words) || (TOOLS.test(words) && RESTRICTION.test(words));
}
