import type { Method, Skill } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";
import { describeHeld, type Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CliCommand } from "../command.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, indented, lines } from "../text/layout.ts";
import { problemText } from "../text/output.ts";
import { findFailures, localSkills } from "./local-skills.ts";

export function addSkillsCheck(skills: CliCommand): void {
  skills
    .command("check")
    .description("lint skills: types, descriptions, names, and whether search finds them")
    .argument("[skills...]", "names of skills (default: all in the skills folder)")
    .run(async ({ openRuntime, folders, paint }, names: readonly string[]) => {
      const runtime = await openRuntime({ until: "known" });
      const checked = localSkills(runtime, names).map((skill) => checkSkill(runtime, skill));
      const failures = names.length > 0 ? [] : findFailures(runtime);
      const { skills: folder } = await folders();
      const heldSkills = names.length > 0 ? [] : runtime.listHeldSkills();
      return {
        exit: failures.length > 0 ? "failed" : heldSkills.length > 0 ? "unreachable" : "ok",
        json: { ok: failures.length + heldSkills.length === 0, skills: checked, failures, held: heldSkills },
        text: lines([
          ...failures.flatMap((failure) => [
            `${paint.out.red("✗")} ${problemText(failure)}`,
            indented(failure.frame ?? ""),
          ]),
          ...checked.map((each) => checkedText(each, paint.out)),
          ...heldSkills.map(({ name, why }) => `${paint.out.red("✗")} ${describeHeld(name, why)}`),
          checked.length + failures.length + heldSkills.length === 0 ? `No skills found in ${folder}` : "",
        ]),
      };
    });
}

function checkedText({ skill, source, methods, tokens, findings }: CheckedSkill, paint: Paint): string {
  const mark = findings.length === 0 ? paint.green("✓") : paint.yellow("!");
  const size = paint.dim(`${count(methods, "method")}, about ${tokens} tokens`);
  return lines([
    `${mark} ${skill}  ${source}  ${size}`,
    ...findings.map(({ path, says }) => indented(says.includes(path) ? says : `${path}: ${says}`)),
  ]);
}

/** Finds the parts of an input schema that have no effect, so that any value is accepted in their place. */
function schemaFindings({ input, definition }: Method): readonly string[] {
  if (isRecord(definition.input["properties"]) && input["properties"] === undefined)
    return ["its input schema is too large or nests too deeply, so any arguments are accepted; simplify it"];
  return [...new Set(referencesIn(input))].flatMap((reference) => {
    if (!reference.startsWith("#"))
      return `its schema refers to ${JSON.stringify(reference)}, which is not resolved, so any value is accepted; put it under $defs`;
    return isThere(reference, input)
      ? []
      : `its schema refers to ${JSON.stringify(reference)}, which it does not contain, so any value is accepted`;
  });
}

/** Every `$ref` in a schema, which is known to be neither deep nor large. */
function referencesIn(schema: unknown): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  if (!isRecord(schema)) return [];
  const own = typeof schema["$ref"] === "string" ? [schema["$ref"]] : [];
  return [...own, ...Object.values(schema).flatMap(referencesIn)];
}

/** True if the reference resolves. Only a pointer is followed; an anchor may be anywhere. */
function isThere(reference: string, schema: unknown): boolean {
  if (reference !== "#" && !reference.startsWith("#/")) return true;
  const names = reference.split("/").slice(1);
  return names.reduce<unknown>((holder, name) => getMember(holder, name), schema) !== undefined;
}

function getMember(holder: unknown, name: string): unknown {
  const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
  return typeof holder === "object" && holder !== null && Object.hasOwn(holder, key)
    ? Reflect.get(holder, key)
    : undefined;
}

/** One suggestion of the linter about a skill or a method. */
export interface SkillFinding {
  /** `Skill.method`, or the skill. */
  readonly path: string;
  readonly says: string;
}

export interface CheckedSkill {
  readonly skill: string;
  readonly source: string;
  readonly methods: number;
  /** The approximate number of tokens of its declarations. */
  readonly tokens: number;
  readonly findings: readonly SkillFinding[];
}

/** Lints a skill as a model sees it: names, descriptions, size, and search results. */
export function checkSkill(runtime: Runtime, skill: Skill): CheckedSkill {
  const { name, source, methods, description } = skill;
  const ofSkill = description === "" ? [finding(name, "has no description; say in one sentence what it is for")] : [];
  return {
    skill: name,
    source,
    methods: methods.length,
    tokens: estimateTokens(methods.map(({ declaration }) => declaration).join("\n")),
    findings: [
      ...findProblems(skill, runtime.problems),
      ...ofSkill,
      ...methods.flatMap((method) => checkMethod(runtime, method)),
    ],
  };
}

/** Finds the problems of a skill that loaded: unreadable types, settings, SKILL.md. */
function findProblems({ name, source }: Skill, problems: readonly Problem[]): readonly SkillFinding[] {
  const own = problems.filter((problem) => problem.source === source || problem.source === `skills.${name}`);
  return own.map(({ error }) => finding(name, error));
}

function checkMethod(runtime: Runtime, method: Method): readonly SkillFinding[] {
  const { path, description, parameters, skill, name } = method;
  const nameless = parameters.filter((parameter) => parameter.description === "" && !isPlain(parameter.schema));
  const toolName = `${skill}__${name}`;
  return [
    ...(description === "" ? [finding(path, "has no description; say in its first sentence what it is for")] : []),
    ...(nameless.length > MAX_NAMELESS
      ? [finding(path, `${nameless.length} of its parameters have no description; add @param … for each`)]
      : nameless.map(({ name }) => finding(path, `parameter "${name}" has no description; add @param ${name} …`))),
    ...schemaFindings(method).map((says) => finding(path, says)),
    ...(toolName.length > MAX_TOOL_NAME_CHARACTERS
      ? [
          finding(
            path,
            `its tool name has ${toolName.length} characters, of which ${MAX_TOOL_NAME_CHARACTERS} are kept`,
          ),
        ]
      : []),
    ...(description === "" ? [] : checkSearch(runtime, method)),
    ...(method.declaration.length > MAX_DECLARATION_CHARACTERS
      ? [
          finding(
            path,
            `its declaration takes about ${estimateTokens(method.declaration)} tokens; models read all of them`,
          ),
        ]
      : []),
  ];
}

/** Above this number, one finding covers all parameters. */
const MAX_NAMELESS = 5;

/** The maximum length of a tool name that models accept. */
const MAX_TOOL_NAME_CHARACTERS = 64;

/** In characters: about a thousand tokens. */
const MAX_DECLARATION_CHARACTERS = 4_000;

/** True if a schema needs no description of its parameter: it has its own, or a single value. */
function isPlain(schema: unknown): boolean {
  return isRecord(schema) && (typeof schema["description"] === "string" || schema["const"] !== undefined);
}

/** Checks that a search for the first sentence of a method's description finds the method. */
function checkSearch(runtime: Runtime, { path, description }: Method): readonly SkillFinding[] {
  const [sentence = description] = description.split(/(?<=[.!?])\s|\n/, 1);
  const found = runtime.search(sentence, { limit: FOUND }).results.map((result) => result.path);
  if (found.includes(path)) return [];
  const others = found.length === 0 ? "nothing" : found.join(", ");
  return [finding(path, `a search for its own description finds ${others}; use words that only this method has`)];
}

const FOUND = 3;

/** Estimates the number of tokens: about one for four characters of code, in all models. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function finding(path: string, says: string): SkillFinding {
  return { path, says };
}
