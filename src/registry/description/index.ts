import type { JsonSchema } from "../../model/json.ts";
import { createPathMatcher } from "../../model/permissions.ts";
import { type Catalog, listEntries, type Method, type Skill } from "../../model/catalog.ts";
import { formatMethodAccess, formatSkillAccess, splitPath, splitRemoteSkill } from "../../shared/names/method-paths.ts";
import { MAX_PATH_UNITS } from "../../shared/names/skill-names.ts";
import { formatList } from "../../shared/format-text.ts";
import { NO_POLICY, type Policy } from "../../model/policy.ts";
import { declarations } from "../declarations/index.ts";
import { formatDeclaration } from "../declarations/method.ts";
import {
  formatOrigin,
  withInferredOutput,
  NO_INFERRED_OUTPUTS,
  type FindInferredOutput,
  type InferredOutput,
} from "../declarations/inferred-output.ts";
import { briefSignature } from "../declarations/signature.ts";
import {
  formatShortDeclaration,
  formatTypeDeclaration,
  type ShortDeclaration,
} from "../declarations/short-declaration.ts";
import { exampleCall } from "../examples/index.ts";
import { listNotes } from "./notes.ts";
import { describeNamedType, describePart, findPartNamed } from "./part.ts";
import { invalidPath, pathTooLong, shortenPath, unknown, unknownMethod, unknownSkill } from "./unknown.ts";
import { firstSentence } from "../token-count.ts";
import { sanitizeOutputSchema, sanitizeText } from "../sanitize.ts";

/** Maximum methods described in full in one answer; of others only the signature is shown. */
const FULL_METHODS = 5;

/** Maximum methods named in one answer. */
const NAMED_METHODS = 50;

/** Maximum declarations in one answer, for a skill or a pattern. */
const DECLARED_METHODS = 100;

/** Members of the schemas that are written as TypeScript for one answer; at least one method is declared. */
const MAX_DECLARED_MEMBERS = 5_000;

/** Longest signature in a list. */
const SIGNATURE_UNITS = 160;

/** Maximum author's examples, and maximum length of each. */
const SAMPLES = 3;
const SAMPLE_UNITS = 600;

/** Maximum patterns in one question: each is matched against every method. */
const MAX_PATTERNS = 5;

/** Maximum names compared for suggestions, over all unknown names of one question. */
const MAX_COMPARED_NAMES = 2_000;

/** Maximum length of a question; the rest is ignored. */
const QUESTION_UNITS = 4_000;

/** The result of `describe`. `text` is the whole answer for a model; the other fields are for programs. */
export interface Description {
  readonly kind: "method" | "skill" | "type" | "several" | "unknown";
  /** `Skill.method`, `Skill`, or the question as asked. */
  readonly path: string;
  /** The methods that were found, at most 50. */
  readonly methods: readonly string[];
  /** TypeScript; empty if nothing was found. */
  readonly declaration: string;
  /** A call that fits the method's schema; empty unless one method was found. */
  readonly example: string;
  /** Policy that a caller should know: approval, deprecation, limits. */
  readonly notes: readonly string[];
  /** The closest names if nothing was found, best first. */
  readonly suggestions: readonly string[];
  readonly text: string;
}

/**
 * Describes a method (`Skill.method`), a skill (`Skill`), several paths (separated by commas or spaces) or all methods
 * of a pattern (`Skill.read_*`). Methods outside the catalog are answered as if they did not exist. A result type that a
 * method does not declare is inferred from observed results, or from an example in its description.
 */
export function describe(
  catalog: Catalog,
  path: string,
  {
    observed = NO_INFERRED_OUTPUTS,
    getRule = NO_POLICY.getRule,
    getAccountTitle = (name) => name,
  }: Partial<MethodFacts> = {},
): Description {
  const paths = path
    .slice(0, QUESTION_UNITS)
    .replace(/\([^()]*\)/g, " ")
    .split(/[\s,;]+/)
    .map(barePath)
    .filter((each) => each !== "");
  const [only = ""] = paths;
  const tooLong = paths.find((each) => each.length > MAX_PATH_UNITS);
  if (tooLong !== undefined) return pathTooLong(tooLong);
  if (paths.filter((each) => each.includes("*")).length > MAX_PATTERNS)
    return unknown(shortenPath(path), `Error: Too many patterns. Ask for at most ${MAX_PATTERNS} at once`, []);
  const context: DescribeContext = {
    catalog,
    observed,
    getRule,
    getAccountTitle,
    compared: Math.ceil(MAX_COMPARED_NAMES / Math.max(1, paths.length)),
  };
  if (paths.length > 1) return describeSeveral(path, findMatchingPaths(paths, catalog), context);
  if (only.includes("*")) return describePattern(only, context);
  return describeOne(only, context);
}

/** Facts about methods that are not in the catalog. */
interface MethodFacts {
  readonly observed: FindInferredOutput;
  readonly getRule: Policy["getRule"];
  /** Returns the title of an account for the caller: `github (ada)`. */
  readonly getAccountTitle: (name: string) => string;
}

/** The inputs of an answer. */
interface DescribeContext extends MethodFacts {
  readonly catalog: Catalog;
  /** Maximum names compared with one unknown name. */
  readonly compared: number;
}

/** Without what models write around a path: `await`, `device.` and quotes. */
function barePath(path: string): string {
  const bare = path.replace(/^["'`]+/, "").replace(/["'`]{1,3}$/, "");
  return bare === "await" ? "" : bare.replace(/^devices?\.(?=.)/, "");
}

function describeOne(path: string, sight: DescribeContext): Description {
  const { catalog } = sight;
  const method = catalog.entry(path);
  if (method !== undefined) return describeMethod(method, sight);
  const skill = catalog.skill(path);
  if (skill !== undefined) return describeSkill(skill, sight);
  const { skill: skillName, method: methodName } = splitPath(path);
  const owningMethod = catalog.method(skillName);
  if (owningMethod !== undefined) return describeType(owningMethod, methodName, catalog);
  const device = splitRemoteSkill(skillName)?.device;
  const isUnknownDevice = device !== undefined && !catalog.skills.some(({ name }) => name.startsWith(`${device}.`));
  if (!/^[^.]+(?:\.[^.]+){1,2}$/.test(path) || isUnknownDevice) return invalidPath(path, sight);
  const owner = catalog.skill(skillName);
  if (owner === undefined) return unknownSkill(path, skillName, sight);
  const part = findPartNamed(owner, methodName);
  if (part !== undefined) return describeMethod(part, sight);
  return describeNamedType(owner, methodName) ?? unknownMethod(path, { name: methodName, skill: owner }, sight);
}

function describeMethod(method: Method, { observed, getRule, getAccountTitle }: MethodFacts): Description {
  const { path } = method;
  if (method.definition.partOf !== undefined) return describePart(method, listNotes(method, getRule(method)));
  const output = observed(method);
  const { text: declaration, omitted } = declareMethod(method, observed);
  const example = exampleCall(method);
  const notes = [
    ...listNotes(method, getRule(method)),
    ...(method.definition.accounts ?? []).map((name) => `Uses the account ${getAccountTitle(name)}`),
    ...(output === undefined ? [] : [observation(output)]),
    ...describeOmitted(path, omitted),
  ];
  const samples = codeSamples(method);
  const text = [
    formatMethodAccess(path),
    declaration,
    ...(samples.length === 0 ? [`Form: ${example}`] : []),
    ...samples.map((code) => `Example: ${code}`),
    ...notes.map((note) => `Note: ${note}`),
  ].join("\n");
  return { kind: "method", path, methods: [path], declaration, example, notes, suggestions: [], text };
}

/** Declares a method. The types of an API are too many to declare all of them. */
function declareMethod(method: Method, observed: FindInferredOutput): ShortDeclaration {
  const declared = withInferredOutput(method, observed);
  if (method.response !== undefined) return formatShortDeclaration(declared);
  return { text: declared === method ? method.declaration : formatDeclaration(declared), omitted: [] };
}

/** Describes a type that the declaration of a method names: `Skill.method.Type`. */
function describeType(method: Method, name: string, catalog: Catalog): Description {
  const skill = catalog.skill(method.skill);
  const description = skill && describeNamedType(skill, name);
  if (description !== undefined) return description;
  const findType = (title: string): JsonSchema | undefined => sanitizeOutputSchema(method.definition.findType?.(title));
  const found = formatTypeDeclaration(method, name, findType);
  const path = `${method.path}.${name}`;
  if (found === undefined) return unknown(path, `Error: ${method.path} has no type '${shortenPath(name)}'`, []);
  const { text: declaration, omitted } = found;
  const notes = describeOmitted(method.path, omitted);
  const text = [declaration, ...notes.map((note) => `Note: ${note}`)].join("\n");
  return { kind: "type", path, methods: [], declaration, example: "", notes, suggestions: [], text };
}

/** Omitted types that are named; of the others, the declaration has the names. */
const NAMED_TYPES = 8;

function describeOmitted(path: string, omitted: readonly string[]): readonly string[] {
  const [first] = omitted;
  if (first === undefined) return [];
  const names = formatList(omitted, NAMED_TYPES);
  return [`Not declared here: ${names}. device.describe("${path}.${first}") declares one`];
}

function observation({ times }: InferredOutput): string {
  if (times === 0) return "The return type is that of an example in the description, so it is a guess";
  return `The return type was observed: ${formatOrigin(times)}${times === 1 ? ", so it is a guess" : ""}`;
}

function describeSkill(skill: Skill, { catalog, observed }: DescribeContext): Description {
  const { name: path, description, guidance, methods } = skill;
  const all = listEntries(skill);
  const isDeclaredWhole = countDeclared(methods) === methods.length;
  const declaration = isDeclaredWhole ? declarations(catalog, [path], observed) : formatDeclarations(methods, observed);
  const text = [
    `${formatSkillAccess(path)}${description === "" ? "" : `: ${description}`}`,
    ...(methods.length <= FULL_METHODS && skill.kind !== "api" ? [declaration.trimEnd()] : namedMethods(all)),
    ...(guidance === undefined || guidance === "" ? [] : [`\n${guidance}`]),
  ].join("\n");
  const paths = all.slice(0, NAMED_METHODS).map((method) => method.path);
  return { kind: "skill", path, methods: paths, declaration, example: "", notes: [], suggestions: [], text };
}

/** Declares the first methods: a server may have thousands, or methods with thousands of parameters. */
function formatDeclarations(methods: readonly Method[], observed: FindInferredOutput): string {
  const count = countDeclared(methods);
  const declared = methods.slice(0, count).map((method) => formatDeclaration(withInferredOutput(method, observed)));
  const rest = methods.length - count;
  return [...declared, ...(rest > 0 ? [`// ... and ${rest} more`] : [])].join("\n");
}

/** Counts the first methods that one answer declares. */
function countDeclared(methods: readonly Method[]): number {
  let members = 0;
  const candidates = methods.slice(0, DECLARED_METHODS);
  const beyond = candidates.findIndex(({ definition: { input, output } }, index) => {
    members += countMembers([input, output], MAX_DECLARED_MEMBERS - members);
    return members >= MAX_DECLARED_MEMBERS && index > 0;
  });
  return beyond < 0 ? candidates.length : beyond;
}

/** Counts the members of all objects and lists inside of a value, up to a maximum. */
function countMembers(value: unknown, max: number): number {
  const open: unknown[] = [value];
  let count = 0;
  while (count < max && open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    const members = Object.values(next);
    count += members.length;
    for (const member of members.slice(0, max)) open.push(member);
  }
  return Math.min(count, max);
}

function describePattern(pattern: string, sight: DescribeContext): Description {
  const methods = findMatchingPaths([pattern], sight.catalog);
  if (methods.length > 0) return describeSeveral(pattern, methods, sight);
  return unknown(pattern, `Error: No method matches '${shortenPath(pattern)}'`, []);
}

function describeSeveral(path: string, paths: readonly string[], sight: DescribeContext): Description {
  const { catalog, observed } = sight;
  const methods = paths.map((each) => catalog.entry(each)).filter((method) => method !== undefined);
  const full = paths.length <= FULL_METHODS;
  const firstPaths = paths.slice(0, NAMED_METHODS);
  const rest = paths.length - firstPaths.length;
  const others = firstPaths.filter((each) => full || catalog.entry(each) === undefined);
  const described = new Map(others.map((each) => [each, describeOne(each, sight)]));
  const all = [...described.values()];
  const formatLine = (each: string): string => briefly(each, described.get(each), catalog);
  return {
    kind: methods.length === 0 && all.every(({ kind }) => kind === "unknown") ? "unknown" : "several",
    path,
    methods: [...new Set(full ? all.flatMap((each) => each.methods) : methods.map((method) => method.path))].slice(
      0,
      NAMED_METHODS,
    ),
    declaration: formatDeclarations(methods, observed),
    example: "",
    notes: [],
    suggestions: [...new Set(all.flatMap(({ suggestions }) => suggestions))],
    text: full
      ? all.map(({ text }) => text).join("\n\n")
      : [...firstPaths.map(formatLine), ...(rest > 0 ? [`... and ${rest} more`] : [])].join("\n"),
  };
}

/** Expands patterns and removes duplicates. A pattern matches what a permission with the same text would cover. */
function findMatchingPaths(paths: readonly string[], catalog: Catalog): readonly string[] {
  const matching = paths.flatMap((path) => {
    if (!path.includes("*")) return [path];
    const matches = createPathMatcher(path);
    return catalog.entries.filter((method) => matches(method.path)).map((method) => method.path);
  });
  return [...new Set(matching)];
}

function briefly(path: string, described: Description | undefined, catalog: Catalog): string {
  const method = catalog.entry(path);
  if (method !== undefined) return methodLine(method);
  return described?.kind === "skill" ? `- ${formatSkillAccess(path)}` : (described?.text ?? "");
}

function namedMethods(methods: readonly Method[]): readonly string[] {
  const rest = methods.length - NAMED_METHODS;
  const lines = methods.slice(0, NAMED_METHODS).map(methodLine);
  return rest > 0 ? [...lines, `... and ${rest} more`] : lines;
}

function methodLine(method: Method): string {
  const summary = firstSentence(method.description);
  return `- ${method.skill}.${briefSignature(method, SIGNATURE_UNITS)}${summary === "" ? "" : ` — ${summary}`}`;
}

/** Returns the examples that the author of the method wrote. */
function codeSamples(method: Method): readonly string[] {
  const codes = (method.definition.examples ?? []).map(({ code }) => sanitizeText(code, SAMPLE_UNITS));
  return codes.filter((code) => code !== "").slice(0, SAMPLES);
}
