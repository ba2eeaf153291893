import { configError, type ConfigDocument, type DocumentPath, parseDocument } from "../config/index.ts";
import type { Roles } from "../model/caller.ts";
import { isRecord } from "../model/json.ts";
import { type Decision, DECISIONS, type Flow } from "../model/policy.ts";
import type { Problem } from "../model/provider.ts";
import { describeForm, isValidSetting } from "../shared/settings/check-settings.ts";
import { describeUnknownField } from "../shared/suggest.ts";
import { FIELDS, FLOW_FIELDS, type RowFields } from "./fields.ts";
import { findAmbiguousPath, isComparable, parseKey, type PolicyKey } from "./keys.ts";
import { readRoles } from "./roles.ts";

/** A row of the policy: its key, and the changes for the methods that the key matches. */
export interface PolicyRow {
  readonly key: PolicyKey;
  /** The line of the key, from 1. */
  readonly line: number;
  /** The file and the line, for messages. */
  readonly place: string;
  readonly fields: RowFields;
}

export interface PolicyFile {
  readonly roles: Roles;
  readonly rows: readonly PolicyRow[];
  readonly flows: readonly Flow[];
  /** All mistakes of the file, each with its line and column; a file with mistakes must not be used. */
  readonly problems: readonly Problem[];
}

export const NO_ROWS: PolicyFile = { roles: new Map(), rows: [], flows: [], problems: [] };

/** Ambiguity is checked for each pair of rows. */
const MAX_ROWS = 1_000;

/** Parses `policies/tools.yaml`. Throws `CONFIG_INVALID` if the text is not YAML. */
export function parsePolicy(text: string, label: string): PolicyFile {
  const document = parseDocument(text, label, "yaml");
  const problems: Problem[] = [];
  const report: ReportMistake = (wrong, path) => {
    problems.push({ source: label, error: configError(label, wrong, document.locate(path)).message });
  };
  const { flows, roles, ...rest } = document.value;
  const rows = Object.entries(rest).flatMap(([key, value]) => readRow(key, value, { ...document, label }, report));
  if (rows.length > MAX_ROWS) report(`it has ${rows.length} rows; a policy has at most ${MAX_ROWS}`, []);
  else reportAmbiguous(rows, report);
  return {
    rows,
    flows: readFlows(flows, { ...document, label }, report),
    roles: readRolesSection(roles, report),
    problems,
  };
}

/** Pairs of ambiguous patterns that are reported. */
const MAX_AMBIGUOUS = 20;

/** The work of comparing patterns, in pairs of characters: about a second at most, whatever a file holds. */
const MAX_COMPARED = 20_000_000;

/** Where rows and flows are: the file, and how to find a part of it. */
type PolicySource = Pick<ConfigDocument, "locate"> & { readonly label: string };

type ReportMistake = (wrong: string, path: DocumentPath) => void;

function readRow(text: string, value: unknown, source: PolicySource, report: ReportMistake): readonly PolicyRow[] {
  const key = parseKey(text);
  if (key === undefined) {
    report(`${JSON.stringify(text)} is not a method; write Skill.method, a pattern such as Skill.*, or a name`, [text]);
    return [];
  }
  if (!isRecord(value) || Object.keys(value).length === 0) {
    report(`"${text}" must have fields, as in ${text}: { decision: ask }`, [text]);
    return [];
  }
  for (const [name, item] of Object.entries(value)) {
    if (!isFieldName(name)) {
      report(`"${text}" has the unknown field ${describeUnknownField(name, Object.keys(FIELDS))}`, [text, name]);
    } else if (!isValidSetting(FIELDS[name], item)) {
      report(`"${name}" must be ${describeForm(FIELDS[name])}, not ${formatValue(item)}`, [text, name]);
    }
  }
  const fields = value as RowFields;
  reportContradictions(text, fields, report);
  return [{ key, line: source.locate([text]).line, place: formatPlace([text], source), fields }];
}

function formatPlace(path: DocumentPath, { locate, label }: PolicySource): string {
  return `${label} line ${locate(path).line}`;
}

function isFieldName(name: string): name is keyof RowFields {
  return Object.hasOwn(FIELDS, name);
}

/** Reports fields that cannot both hold. */
function reportContradictions(
  key: string,
  { decision, requires_approval: requires, approval }: RowFields,
  report: ReportMistake,
): void {
  const asks = approval === "user" || approval === "admin";
  const pairs: readonly (readonly [isWrong: boolean, one: string, other: string])[] = [
    [decision === "allow" && requires === true, "decision: allow", "requires_approval: true"],
    [decision === "allow" && requires === "writes", "decision: allow", "requires_approval: writes"],
    [decision === "ask" && requires === "writes", "decision: ask", "requires_approval: writes"],
    [requires === "writes" && approval !== undefined, "requires_approval: writes", `approval: ${approval}`],
    [decision === "allow" && asks, "decision: allow", `approval: ${approval}`],
    [decision === "ask" && requires === false, "decision: ask", "requires_approval: false"],
    [decision === "ask" && approval === "none", "decision: ask", "approval: none"],
    [requires === true && approval === "none", "requires_approval: true", "approval: none"],
    [requires === false && asks, "requires_approval: false", `approval: ${approval}`],
  ];
  const wrong = pairs.find(([isWrong]) => isWrong);
  if (wrong !== undefined) report(`"${key}" has ${wrong[1]} and ${wrong[2]}, which contradict; remove one`, [key]);
}

function reportAmbiguous(rows: readonly PolicyRow[], report: ReportMistake): void {
  let compared = 0;
  let reported = 0;
  for (const [at, row] of rows.entries())
    for (const before of rows.slice(0, at)) {
      if (!isComparable(before.key, row.key)) continue;
      compared += before.key.text.length * row.key.text.length;
      if (compared > MAX_COMPARED)
        return report("it has too many long patterns to compare; write fewer, or name the methods", [row.key.text]);
      const path = findAmbiguousPath(before.key, row.key);
      if (path === undefined) continue;
      if (++reported > MAX_AMBIGUOUS) return;
      const pair = `"${row.key.text}" is as specific as "${before.key.text}" on line ${before.line}`;
      report(`${pair}, and both match ${path}; write a row for what both match, or narrow one`, [row.key.text]);
    }
}

function readRolesSection(value: unknown, report: ReportMistake): Roles {
  if (isRecord(value)) return readRoles(value, (wrong, role) => report(wrong, ["roles", role]));
  if (value !== undefined && value !== null)
    report('"roles" must have a list of scopes for each role, as in roles: { sender: [mail:send] }', ["roles"]);
  return NO_ROWS.roles;
}

function readFlows(value: unknown, source: PolicySource, report: ReportMistake): readonly Flow[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    report(`"flows" must be a list, as in ${FLOW_EXAMPLE}`, ["flows"]);
    return [];
  }
  if (value.length > MAX_ROWS) report(`it has ${value.length} flows; a policy has at most ${MAX_ROWS}`, ["flows"]);
  return value.flatMap((flow: unknown, index) => readFlow(flow, ["flows", index], source, report));
}

const FLOW_EXAMPLE = "[{ from: BraveSearchMCP.*, to: MailSkill.send, decision: ask }]";

function readFlow(flow: unknown, path: DocumentPath, source: PolicySource, report: ReportMistake): readonly Flow[] {
  if (!isRecord(flow)) {
    report(`a flow must have from, to and decision, as in ${FLOW_EXAMPLE}`, path);
    return [];
  }
  const { from, to, decision, ...others } = flow;
  for (const name of Object.keys(others)) {
    const detail = describeUnknownField(name, [...Object.keys(FLOW_FIELDS), "decision"]);
    report(`a flow has the unknown field ${detail}`, [...path, name]);
  }
  for (const [name, key] of Object.entries({ from, to }))
    if (typeof key !== "string" || parseKey(key) === undefined)
      report(`"${name}" must be a method or a pattern, not ${formatValue(key)}`, [...path, name]);
  if (!isDecision(decision))
    report(`"decision" must be ${describeForm(FIELDS.decision)}, not ${formatValue(decision)}`, [...path, "decision"]);
  const isValid = typeof from === "string" && typeof to === "string" && isDecision(decision);
  return isValid ? [{ from, to, decision, place: formatPlace(path, source) }] : [];
}

export function isDecision(value: unknown): value is Decision {
  return DECISIONS.some((each) => each === value);
}

function formatValue(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value);
}
