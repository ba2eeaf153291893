import type { ErrorCode } from "../../errors.ts";
import type { Catalog, Method } from "../../model/catalog.ts";
import type { Violation } from "../../model/outcome.ts";
import { exampleCall } from "../../registry/index.ts";
import { truncateText } from "../../shared/format-text.ts";

/** The mistakes for which programs were refused, the most frequent first. */
export interface RefusalReport {
  /** The number of refused programs. */
  readonly programs: number;
  /** Those of them whose content the caller may not see: they are in no group. */
  readonly hidden: number;
  /** The starts of equal spans of time, in milliseconds since 1970; the last one ends now. */
  readonly times: readonly number[];
  /** The refused programs of each span. */
  readonly counts: readonly number[];
  readonly groups: readonly RefusalGroup[];
}

/** Refusals with one code that concern one name. */
export interface RefusalGroup {
  readonly code: ErrorCode;
  /** The method, skill or global that the program names; empty for a mistake without a name. */
  readonly name: string;
  /** The number of programs. */
  readonly programs: number;
  readonly callers: number;
  readonly last: number;
  readonly example: Pick<Violation, "message" | "frame" | "fix"> & { readonly run: string };
  readonly help: RefusalHelp;
}

/** A sentence that says how to help models, and a text to write. */
export interface RefusalHelp {
  readonly text: string;
  /** The file or entry in which the text belongs; empty without one. */
  readonly where: string;
  readonly edit: string;
}

/** A refused program, as recorded. */
export interface RecordedRefusal {
  readonly run: string;
  readonly caller: string;
  readonly time: number;
  readonly violations: readonly Violation[];
}

const SPANS = 24;
const MIN_SPAN_MS = 60_000;
const MAX_GROUPS = 200;

/** Groups refusals, newest first, by code and name. The help names methods of the catalog. */
export function reportRefusals(
  refusals: readonly RecordedRefusal[],
  { catalog, hidden, now }: { readonly catalog: Catalog; readonly hidden: number; readonly now: number },
): RefusalReport {
  const oldest = refusals.at(-1)?.time ?? now;
  const spanMs = Math.max(MIN_SPAN_MS, Math.ceil((now - oldest + 1) / SPANS));
  const first = now - spanMs * SPANS;
  const counts = Array.from({ length: SPANS }, () => 0);
  for (const { time } of refusals) {
    const span = Math.min(SPANS - 1, Math.max(0, Math.floor((time - first) / spanMs)));
    counts[span] = (counts[span] ?? 0) + 1;
  }
  const groups = [...collectGroups(refusals).values()].map((group) => describeGroup(group, catalog));
  return {
    programs: refusals.length + hidden,
    hidden,
    times: counts.map((_, index) => first + index * spanMs),
    counts,
    groups: groups.toSorted((a, b) => b.programs - a.programs || b.last - a.last).slice(0, MAX_GROUPS),
  };
}

interface RefusalMember {
  readonly refusal: RecordedRefusal;
  readonly violation: Violation;
}

/** A program counts once in each of its groups. */
function collectGroups(refusals: readonly RecordedRefusal[]): ReadonlyMap<string, readonly RefusalMember[]> {
  const groups = new Map<string, RefusalMember[]>();
  for (const refusal of refusals)
    for (const violation of refusal.violations) {
      const key = `${violation.code} ${findName(violation)}`;
      const group = groups.get(key) ?? [];
      if (group.at(-1)?.refusal !== refusal) group.push({ refusal, violation });
      groups.set(key, group);
    }
  return groups;
}

function describeGroup(members: readonly RefusalMember[], catalog: Catalog): RefusalGroup {
  const [{ refusal, violation }] = members as [RefusalMember];
  const { code, message, frame, fix } = violation;
  return {
    code,
    name: findName(violation),
    programs: members.length,
    callers: new Set(members.map((member) => member.refusal.caller)).size,
    last: refusal.time,
    example: { run: refusal.run, message, frame, fix },
    help: findHelp(violation, catalog),
  };
}

const MAX_NAME_UNITS = 80;

/** The codes whose message begins with the name that the program uses. */
const NAMING_CODES: ReadonlySet<ErrorCode> = new Set([
  "DEVICE_UNKNOWN",
  "GLOBAL_FORBIDDEN",
  "GLOBAL_UNKNOWN",
  "METHOD_HELD",
  "METHOD_REMOVED",
  "METHOD_UNKNOWN",
  "MODULE_FORBIDDEN",
  "PERMISSION_MISSING",
  "POLICY_DENIED",
  "SKILL_DISABLED",
  "SKILL_UNKNOWN",
]);

/** Returns the name that a violation is about: that of a method of which arguments are wrong stands at the end. */
function findName({ code, message }: Violation): string {
  const values = message.slice(message.indexOf(": ") + 2, message.lastIndexOf(" ("));
  const [, method] = /; see (\S+)$/.exec(values) ?? [];
  if (method !== undefined) return truncateText(method, MAX_NAME_UNITS);
  return NAMING_CODES.has(code) ? truncateText(/^[^\s;,:(]*/.exec(values)?.[0] ?? "", MAX_NAME_UNITS) : "";
}

function findHelp(violation: Violation, catalog: Catalog): RefusalHelp {
  const { code, suggestions, fix } = violation;
  const name = findName(violation);
  const method = catalog.method(name);
  if (code === "ARGUMENTS_INVALID" && method !== undefined) return helpWithArguments(method, fix, catalog);
  if (code === "METHOD_UNKNOWN" || code === "SKILL_UNKNOWN") return helpWithUnknown(name, suggestions, catalog);
  if (code === "PERMISSION_MISSING" || code === "POLICY_DENIED" || code === "SKILL_DISABLED")
    return { ...NO_HELP, text: `Models see ${name} and may not call it. Let them call it, or hide it from them` };
  return NO_HELP;
}

const NO_HELP: RefusalHelp = {
  text: "No text of a skill prevents this mistake of the language: the refusal says what to write",
  where: "",
  edit: "",
};

function helpWithArguments(method: Method, fix: string, catalog: Catalog): RefusalHelp {
  const [, call = exampleCall(method)] = /^Write (await device\..*)$/s.exec(fix) ?? [];
  const text = `Models do not see how ${method.path} is called. Show it with an example`;
  return createEdit(method, { text, tag: `@example ${call}`, words: `Example: ${call}` }, catalog);
}

function helpWithUnknown(name: string, suggestions: readonly string[], catalog: Catalog): RefusalHelp {
  const method = suggestions.map((path) => catalog.method(path)).find((found) => found !== undefined);
  const skill = suggestions.map((path) => catalog.skill(path)).find((found) => found !== undefined);
  const nearest = method ?? skill?.methods[0];
  if (nearest === undefined)
    return { ...NO_HELP, text: `Nothing is like ${name}. Add a skill or a server that does this, if models need it` };
  const word = name.split(".").at(-1) ?? name;
  const text = `Models write ${word} for what may be ${nearest.path}. Write their word into its description`;
  return createEdit(nearest, { text, tag: "", words: `Also called ${word}.` }, catalog);
}

/** A change of the comment of a skill file, or an override of the text of a server. */
function createEdit(
  { skill, name, path, description }: Method,
  { text, tag, words }: { readonly text: string; readonly tag: string; readonly words: string },
  catalog: Catalog,
): RefusalHelp {
  const found = catalog.skill(skill);
  const summary = truncateText(description.split("\n", 1)[0] ?? "", 200);
  const sentence = `${summary}${/[.!?]$/.test(summary) || summary === "" ? "" : "."} ${words}`.trim();
  if (found?.kind === "mcp") {
    const override = JSON.stringify({ [name]: { description: sentence } });
    return { text, where: `the entry of the server ${found.server ?? skill}`, edit: `"toolOverrides": ${override}` };
  }
  const lines = tag === "" ? sentence : `${summary}\n${tag}`;
  const where = found?.kind === "file" ? `the comment of ${path} in ${found.source}` : `the description of ${path}`;
  return { text, where, edit: lines };
}
