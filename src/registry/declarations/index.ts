import type { Catalog, Method, Skill } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import { createUnknownNameError } from "../../shared/suggest.ts";
import { splitRemoteSkill } from "../../shared/names/method-paths.ts";
import { type MethodText, methodText, type TextStyle } from "./method.ts";
import { formatResultType, type TextOutput, withTextSignatures } from "./text-signatures.ts";
import {
  withInferredOutput,
  NO_INFERRED_OUTPUTS,
  type FindInferredOutput,
  type InferredOutput,
} from "./inferred-output.ts";
import { bindingName, docComment, indented, propertyName } from "./text.ts";

/**
 * Returns TypeScript declarations of a catalog, or of some of its skills, for models and editors. Each method has one
 * signature with positional arguments and one that takes them by name; a type that several methods of a skill share is
 * named once, in a namespace of the skill's name. A result without a schema gets its observed type. Throws
 * `SKILL_UNKNOWN`.
 */
export function declarations(
  catalog: Catalog,
  skillNames?: readonly string[],
  observed: FindInferredOutput = NO_INFERRED_OUTPUTS,
): string {
  const skills = skillNames === undefined ? catalog.skills : skillNames.map((name) => knownSkill(catalog, name));
  const texts = [...new Set(skills)].map((skill) => getSkillText(skill, observed));
  if (skillNames !== undefined) return joinTexts(texts);
  return joinTexts([...texts, ...catalog.unlisted.map(writeBriefly)], OWN_METHODS, FOUND_METHOD);
}

/** Declares a skill without the texts of its methods. */
function writeBriefly(skill: Skill): SkillText {
  return writeSkill(skill, (method, qualifier, prefix) =>
    methodText(method, { qualifier, ...(prefix !== undefined && { prefix }), comments: false }),
  );
}

/**
 * Returns the declarations of some methods for the compiler: without comments, which change with each observed result, and
 * without the other methods of their skills. A method of a query language has a signature for each text whose result is known.
 */
export function bareDeclarations(
  methods: readonly Method[],
  observed: FindInferredOutput = NO_INFERRED_OUTPUTS,
  { texts = [], input }: FurtherTypes = {},
): string {
  const bySkill = new Map<string, Method[]>();
  for (const method of methods) {
    const others = bySkill.get(method.skill);
    if (others === undefined) bySkill.set(method.skill, [method]);
    else others.push(method);
  }
  const write = (method: Method, qualifier: string, prefix?: string): MethodText =>
    withTextSignatures(
      getBareText(method, observed(method), { qualifier, ...(prefix !== undefined && { prefix }) }),
      texts.filter(({ path }) => path === method.path),
    );
  return joinTexts(
    [...bySkill].map(([name, used]) => writeSkill({ name, description: "", methods: used }, write)),
    input === undefined ? [] : [`input(): Promise<${formatResultType(input)}>;`],
  );
}

/** Types that are known beside those of the methods. */
export interface FurtherTypes {
  readonly texts?: readonly TextOutput[];
  /** The schema of the value that `device.input()` gives. */
  readonly input?: JsonSchema | undefined;
}

interface BareText {
  readonly text: MethodText;
  /** The schema of the output and the parts of names, from which the text was made. */
  readonly facts: readonly unknown[];
}

/** The last text of each method. */
const BARE_TEXTS = new WeakMap<Method, BareText>();

function getBareText(
  method: Method,
  output: InferredOutput | undefined,
  style: Omit<TextStyle, "comments">,
): MethodText {
  const facts = [output?.schema, style.qualifier, style.prefix];
  const before = BARE_TEXTS.get(method);
  if (before !== undefined && before.facts.every((fact, at) => fact === facts[at])) return before.text;
  const text = methodText(
    withInferredOutput(method, () => output),
    { ...style, comments: false },
  );
  BARE_TEXTS.set(method, { text, facts });
  return text;
}

function joinTexts(texts: readonly SkillText[], ownMethods: readonly string[] = [], types = ""): string {
  const namespaces = texts.map(({ namespace }) => namespace).join("");
  const local = texts.filter(({ device }) => device === undefined).map(({ member }) => member);
  const members = [...local, ...ownMethods];
  const nodes = declareNodes(texts);
  const device = members.length === 0 && nodes !== "" ? "" : declareObject("device", members);
  return `${namespaces}${types}${device}${nodes}`;
}

function declareObject(name: string, members: readonly string[]): string {
  return `declare const ${name}: {\n${indented(members.join("\n"))}\n};\n`;
}

/** Declares the skills of other machines, by machine; empty if there are none. */
function declareNodes(texts: readonly SkillText[]): string {
  const byDevice = new Map<string, string[]>();
  for (const { device, member } of texts) {
    if (device === undefined) continue;
    const members = byDevice.get(device) ?? [];
    members.push(member);
    byDevice.set(device, members);
  }
  const nodes = [...byDevice].map(
    ([device, members]) => `${propertyName(device)}: {\n${indented(members.join("\n"))}\n};`,
  );
  return nodes.length === 0 ? "" : declareObject("devices", nodes);
}

/** The functions of `device` that are not skills; only the declarations of a whole catalog include them. */
const OWN_METHODS = [
  "/** Finds methods by what they do. The list reads as a text, too. A list of queries gives a list for each. */\nsearch_skills(query?: string, limit?: number, offset?: number): Promise<FoundMethod[]>;\nsearch_skills(queries: string[], limit?: number, offset?: number): Promise<FoundMethod[][]>;",
  "/** Describes a method: types, parameters, an example. A list of paths gives a list of texts. */\ndescribe(path: string): Promise<string & FoundMethod>;\ndescribe(paths: string[]): Promise<(string & FoundMethod)[]>;",
  '/** Returns the value of an earlier result that was too large to show: result("r1"). */\nresult(handle: string): Promise<any>;',
  "/** Returns what this run may still use. */\nbudget(): Promise<{ cpuMs: number; wallMs: number; calls: number; memoryBytes: number; outputBytes: number }>;",
  "/** Returns the value that the run was started with. */\ninput(): Promise<any>;",
];

const FOUND_METHOD =
  "interface FoundMethod { path: string; signature: string; summary: string; call(...args: any[]): Promise<any> }\n";

function knownSkill(catalog: Catalog, name: string): Skill {
  const skill = catalog.skill(name);
  if (skill !== undefined) return skill;
  const names = catalog.skills.map((each) => each.name);
  throw createUnknownNameError("SKILL_UNKNOWN", name, names);
}

interface SkillText {
  /** Declares the types of the skill; empty if there are none. */
  readonly namespace: string;
  readonly member: string;
  /** The machine that offers the skill, if it is another one. */
  readonly device: string | undefined;
}

/** Cached texts: a skill never changes, so its text is written once, unless results were observed. */
const TEXTS = new WeakMap<Skill, SkillText>();

function getSkillText(skill: Skill, observed: FindInferredOutput): SkillText {
  const write: WriteMethod = (method, qualifier, prefix) =>
    methodText(withInferredOutput(method, observed), { qualifier, ...(prefix !== undefined && { prefix }) });
  if (skill.methods.some((method) => observed(method) !== undefined)) return writeSkill(skill, write);
  const cached = TEXTS.get(skill);
  if (cached !== undefined) return cached;
  const text = writeSkill(skill, write);
  TEXTS.set(skill, text);
  return text;
}

type WriteMethod = (method: Method, qualifier: string, prefix?: string) => MethodText;

function writeSkill(skill: Pick<Skill, "name" | "description" | "methods">, write: WriteMethod): SkillText {
  const space = bindingName(skill.name);
  const types = new Map<string, string>();
  const members = skill.methods.map((method) => {
    const text = agreeing(write(method, `${space}.`), types) ?? write(method, `${space}.`, `${method.name}_`);
    for (const [name, type] of text.types) types.set(name, type);
    return text.comment + writeSignatures(propertyName(method.name), text);
  });
  const aliases = [...types].map(([name, type]) => `type ${name} = ${type};`).join("\n");
  const remote = splitRemoteSkill(skill.name);
  return {
    device: remote?.device,
    namespace: types.size === 0 ? "" : `declare namespace ${space} {\n${indented(aliases)}\n}\n`,
    member: `${docComment(skill.description === "" ? [] : [skill.description])}${propertyName(remote?.skill ?? skill.name)}: {\n${indented(members.join("\n"))}\n};`,
  };
}

/** A method with pages is a property: its type has signatures and a member. */
function writeSignatures(name: string, { ofTexts = [], positional, byName, response, pages }: MethodText): string {
  // An object that is not written in the call may have more members, so the form with one more comes first.
  const signatures = [...ofTexts, positional, response, byName].filter((signature) => signature !== undefined);
  if (pages === undefined) return signatures.map((signature) => `${name}${signature};`).join("\n");
  return `${name}: {\n${indented([...signatures, `pages${pages}`].map((each) => `${each};`).join("\n"))}\n};`;
}

/** Returns the text if each of its type names has the same meaning as elsewhere in the skill. */
function agreeing(text: MethodText, types: ReadonlyMap<string, string>): MethodText | undefined {
  return [...text.types].every(([name, type]) => (types.get(name) ?? type) === type) ? text : undefined;
}
