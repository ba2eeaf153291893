import { isWithin, type Pointer } from "./json-pointer.ts";
import { problemFrom } from "./problems.ts";
import type { Finding } from "./schema/evaluation.ts";

/** At most this many of the branches that may be intended are explained. */
const EXPLAINED_FORMS = 3;

/** The parts of the arguments that are unknown before a run. */
export interface UnknownParts {
  /** The places of `UNKNOWN`. */
  readonly unknown: readonly Pointer[];
  /** True if the input may get further names. */
  readonly openNames: boolean;
}

export const NOTHING_UNKNOWN: UnknownParts = { unknown: [], openNames: false };

/**
 * Reduces findings to one for each mistake. Those of every branch of `anyOf`, `oneOf` and `if` come before that of the keyword
 * itself; only those of the intended branch are kept. Findings that depend on unknown parts are left out.
 */
export function summarizeErrors(findings: readonly Finding[], unknownParts: UnknownParts): readonly Finding[] {
  const settled: Finding[] = [];
  for (const finding of findings) {
    const summarize = SUMMARIES.get(finding.keyword);
    const branches = summarize === undefined ? [] : takeBranches(settled, finding);
    if (isUnknown(finding, unknownParts)) continue;
    settled.push(...(summarize === undefined ? [finding] : summarize(finding, branches)));
  }
  const wrongTypes = new Set(settled.filter(({ keyword }) => keyword === "type").map(({ pointer }) => pointer));
  return settled.filter(({ keyword, pointer }) => !(isValueKeyword(keyword) && wrongTypes.has(pointer)));
}

type Summary = (finding: Finding, inner: readonly Finding[]) => readonly Finding[];

/** For keywords with branches: how the errors of the branches are summarized. */
const SUMMARIES: ReadonlyMap<string, Summary> = new Map<string, Summary>([
  ["if", (_, inner) => inner],
  ["contains", (finding) => [finding]],
  ["propertyNames", (finding) => [finding]],
  ["anyOf", selectIntendedBranch],
  ["oneOf", selectIntendedBranch],
]);

/** Removes the errors of the branches of a keyword from the list; they come right before its own. */
function takeBranches(settled: Finding[], finding: Finding): readonly Finding[] {
  const branches = branchesPath(finding);
  const isBranch = ({ pointer, schemaPath }: Finding): boolean =>
    isWithin(pointer, finding.pointer) && (isWithin(schemaPath, branches) || home(schemaPath) !== home(branches));
  return settled.splice(settled.findLastIndex((other) => !isBranch(other)) + 1);
}

/** Returns the schema path of the branches; those of `if` are its siblings. */
function branchesPath({ keyword, schemaPath, params }: Finding): string {
  return keyword === "if" ? schemaPath.replace(/if$/, String(params["failingKeyword"])) : schemaPath;
}

/** Returns the definition that a schema path is in: a new path begins where a reference is followed. */
function home(schemaPath: string): string {
  const [hash = "", definitions = "", name = ""] = schemaPath.split("/", 3);
  return definitions === "$defs" || definitions === "definitions" ? `${hash}/${definitions}/${name}` : hash;
}

/** Keywords that are certain only when the whole value is known. */
const OF_THE_WHOLE: ReadonlySet<string> = new Set([
  ...SUMMARIES.keys(),
  "not",
  "enum",
  "const",
  "uniqueItems",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

/** Keywords whose errors further names can resolve. */
const OF_ALL_NAMES: ReadonlySet<string> = new Set([
  ...OF_THE_WHOLE,
  "required",
  "dependentRequired",
  "dependencies",
  "minProperties",
]);

function isUnknown({ keyword, pointer }: Finding, unknownParts: UnknownParts): boolean {
  if (unknownParts.openNames && pointer === "" && OF_ALL_NAMES.has(keyword)) return true;
  return unknownParts.unknown.some(
    (unknown) => isWithin(pointer, unknown) || (OF_THE_WHOLE.has(keyword) && isWithin(unknown, pointer)),
  );
}

/** For a value that matches no branch: the errors of the branch of its kind, or a summary of all branches. */
function selectIntendedBranch(finding: Finding, inner: readonly Finding[]): readonly Finding[] {
  if (Array.isArray(finding.params["passingSchemas"])) return [finding];
  const branches = groupByBranch(finding, inner);
  const ofType = branches.filter((branch) => wrongType(branch, finding.pointer) === undefined);
  const ofKind = ofType.filter((branch) => wrongConstant(branch, finding.pointer) === undefined);
  const branch = [ofType, ofKind].find((some) => some.length === 1);
  if (branch !== undefined) return branch.flat();
  const closest = [ofKind, ofType].find((some) => some.length > 0) ?? branches;
  return [findCommonType(finding, branches) ?? noForm(finding, closest)];
}

/** Groups errors by branch, in the order of the branches. */
function groupByBranch(finding: Finding, inner: readonly Finding[]): readonly (readonly Finding[])[] {
  const branches = new Map<string, Finding[]>();
  for (const each of inner) {
    const isInline = isWithin(each.schemaPath, finding.schemaPath);
    const depth = finding.schemaPath.split("/").length + 1;
    const name = isInline ? each.schemaPath.split("/", depth).join("/") : home(each.schemaPath);
    const branch = branches.get(name);
    if (branch === undefined) branches.set(name, [each]);
    else branch.push(each);
  }
  return [...branches.values()];
}

function wrongType(branch: readonly Finding[], pointer: Pointer): Finding | undefined {
  return branch.find((each) => each.keyword === "type" && each.pointer === pointer);
}

/** Finds a constant that the value, or one of its members, would need in order to match a branch. */
function wrongConstant(branch: readonly Finding[], pointer: Pointer): Finding | undefined {
  const deepest = pointer.split("/").length + 1;
  return branch.find((each) => isValueKeyword(each.keyword) && each.pointer.split("/").length <= deepest);
}

/** Merges the errors of all branches into one, if the branches differ only in types or only in constants. */
function findCommonType(finding: Finding, branches: readonly (readonly Finding[])[]): Finding | undefined {
  const types = branches.flatMap((branch) => wrongType(branch, finding.pointer) ?? []);
  if (types.length === branches.length && types.length > 0)
    return { ...finding, keyword: "type", schema: types.flatMap(({ schema }) => schema) };
  const nulls = types.filter(({ schema }) => schema === "null");
  const constants = branches.flatMap((branch) => wrongConstant(branch, finding.pointer) ?? []);
  const [first] = constants;
  if (first === undefined || nulls.length < types.length || nulls.length + constants.length < branches.length)
    return undefined;
  if ([...nulls, ...constants].some(({ pointer }) => pointer !== first.pointer)) return undefined;
  return { ...first, keyword: "enum", schema: [...constants.flatMap(getAllowedValues), ...nulls.map(() => null)] };
}

function isValueKeyword(keyword: string): boolean {
  return keyword === "enum" || keyword === "const";
}

function getAllowedValues({ keyword, schema }: Finding): readonly unknown[] {
  return keyword === "enum" && Array.isArray(schema) ? schema : [schema];
}

function noForm(finding: Finding, branches: readonly (readonly Finding[])[]): Finding {
  const forms = branches.slice(0, EXPLAINED_FORMS).flatMap(([first]) => {
    if (first === undefined) return [];
    const { field, reason } = problemFrom(
      { ...first, pointer: first.pointer.slice(finding.pointer.length) },
      finding.data,
    );
    return [field === "_root" ? reason : `"${field}" ${reason}`];
  });
  return { ...finding, keyword: "anyOf", params: { forms } };
}
