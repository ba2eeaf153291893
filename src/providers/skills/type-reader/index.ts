import { isMemberName } from "../../../shared/names/skill-names.ts";
import type { MethodMetadata } from "../../../model/skill.ts";
import { moduleToMethodName, moduleToSkillName } from "../names.ts";
import { readClass, type ReadMembers } from "./classes.ts";
import { type Doc, NO_DOC, parseDoc } from "./jsdoc/docs.ts";
import {
  type ExportPath,
  detectModuleFormat,
  isClass,
  isFunction,
  type ModuleFormat,
  type OwnExport,
  ownExports,
} from "./exports.ts";
import type { FileNames } from "./file-names.ts";
import { ModuleFiles } from "../source-files.ts";
import { FileReader } from "./files.ts";
import { literalValue } from "./literals.ts";
import { readFacts } from "./jsdoc/metadata.ts";
import { type ReadMethod, readMethod } from "./methods.ts";
import { createScope } from "./reader.ts";
import { isNode, getName, nodeAt, nodesAt, type Source } from "./syntax.ts";

export type { ExportPath, ModuleFormat } from "./exports.ts";
export type { Layout } from "./parameters.ts";
export type { ReadMethod } from "./methods.ts";

/** The result of reading a module's source without running it. Plain data. */
export interface ReadModule {
  readonly format: ModuleFormat;
  /** Name of the skill of the module's functions and tools. */
  readonly name: string;
  readonly description: string;
  readonly classes: readonly ReadClass[];
  readonly functions: readonly ReadFunction[];
  /** Other values, which may be defined skills or tools. */
  readonly values: readonly ExportPath[];
  /** Method name of an unnamed default export. */
  readonly methodName: string;
  /** Hints about values that are almost skills, for the report that the module has no skill. */
  readonly nearMisses: readonly string[];
  /** Every file that was read. */
  readonly files: readonly string[];
}

export interface ReadClass extends ReadMembers {
  readonly name: string;
  readonly path: ExportPath;
  readonly description: string;
}

export interface ReadFunction extends ReadMethod {
  readonly path: ExportPath;
}

/** Exports of a module of functions that describe the skill and are not methods. */
const ABOUT_THE_SKILL: ReadonlySet<string> = new Set(["name", "description", "settings", "healthCheck"]);

/** Reads the skills of a module from its source: names, methods, types and comments. */
export function readModule(source: Source, stem: string, sources = new ModuleFiles()): ReadModule {
  const files = new FileReader(sources);
  const names = files.open(source);
  const header = findHeader(source);
  const inherited = readFacts(header).metadata;
  const own = ownExports(names);
  const name = ownText(own, "name", names, files) ?? moduleToSkillName(stem);
  const classes = own.flatMap((each) => readClasses(each, { stem, header, inherited, names, files }));
  const functions = own.flatMap((each) => readFunctions(each, { skill: name, stem, inherited, names, files }));
  return {
    format: detectModuleFormat(source),
    name,
    description: ownText(own, "description", names, files) ?? header.description,
    classes,
    functions,
    values: own.filter(({ node }) => !isClass(node) && !isFunction(node)).map(({ path }) => path),
    methodName: moduleToMethodName(stem),
    nearMisses: classes.length > 0 ? [] : findNearMisses(source, own),
    files: [...files.read],
  };
}

/** The first comment of a file, if it is about the file and not about what follows it. */
function findHeader(source: Source): Doc {
  const [comment, next] = source.docs;
  const first = nodesAt(source.program, "body").find((statement) => statement["directive"] === undefined);
  const start = first?.start ?? source.text.length;
  if (comment === undefined || comment.start > start) return NO_DOC;
  const doc = parseDoc(comment.value, comment.loc?.start.line ?? 1);
  const fileTag = doc.tags.find(({ tag }) => FILE_TAGS.has(tag));
  const isAbout = fileTag !== undefined || first?.type === "ImportDeclaration";
  const isApart = /\n\s*\n/.test(source.text.slice(comment.end, start)) || (next !== undefined && next.end <= start);
  if (!isAbout && !isApart) return NO_DOC;
  // `@file Description` is equivalent to a text above the tags.
  return { ...doc, description: doc.description || (fileTag?.text ?? "") };
}

const FILE_TAGS: ReadonlySet<string> = new Set(["file", "fileoverview", "module", "packagedocumentation"]);

/** Reads a text export such as `export const description = "…"`. */
function ownText(own: readonly OwnExport[], name: string, names: FileNames, files: FileReader): string | undefined {
  const found = own.find(({ path }) => path.at(-1) === name);
  const value = literalValue(found?.node, names, files);
  return typeof value === "string" && (name !== "name" || isMemberName(value)) ? value : undefined;
}

interface ModuleFacts {
  readonly stem: string;
  readonly inherited: Partial<MethodMetadata>;
  readonly names: FileNames;
  readonly files: FileReader;
}

function readClasses(
  { path, node, doc }: OwnExport,
  { stem, header, inherited, names, files }: ModuleFacts & { readonly header: Doc },
): readonly ReadClass[] {
  if (!isClass(node) || node["abstract"] === true) return [];
  const own = getName(nodeAt(node, "id"));
  const isNameless = own === undefined && (path.at(-1) ?? "default") === "default";
  const name = isNameless
    ? moduleToSkillName(stem)
    : [own, path.at(-1)].find((each) => each?.endsWith("Skill") === true);
  if (name === undefined || !isMemberName(name)) return [];
  const read = readClass({ skill: name, node, doc, scope: createScope(names), inherited }, files);
  return read === undefined ? [] : [{ name, path, description: doc.description || header.description, ...read }];
}

function readFunctions(
  { path, node, doc }: OwnExport,
  { skill, stem, inherited, names, files }: ModuleFacts & { readonly skill: string },
): readonly ReadFunction[] {
  const exported = path.at(-1) ?? "default";
  const name = exported === "default" ? (getName(nodeAt(node, "id")) ?? moduleToMethodName(stem)) : exported;
  if (!isFunction(node) || name.startsWith("_") || ABOUT_THE_SKILL.has(name) || !isMemberName(name)) return [];
  const method = readMethod({ skill, name, fn: node, doc, scope: createScope(names), inherited }, files);
  return method === undefined ? [] : [{ ...method, path }];
}

/** Finds classes that seem to be skills, but are not exported or have the wrong name. */
function findNearMisses(source: Source, own: readonly OwnExport[]): readonly string[] {
  const exported = own.flatMap(({ node }) => (isClass(node) ? [getName(nodeAt(node, "id")) ?? ""] : []));
  const wrongName = exported.filter((name) => name !== "" && !name.endsWith("Skill"));
  const declared = nodesAt(source.program, "body").filter((each) => isClass(each) && each["abstract"] !== true);
  const hidden = declared.filter((each) => {
    const name = getName(nodeAt(each, "id")) ?? "";
    return name.endsWith("Skill") && !exported.includes(name);
  });
  const isHandedOn = nodesAt(source.program, "body").some(
    ({ type, source }) => type.startsWith("Export") && isNode(source),
  );
  return [
    ...(isHandedOn ? ["re-exports of other files do not count"] : []),
    ...hidden.map(
      (each) => `the class "${getName(nodeAt(each, "id"))}" in line ${each.loc.start.line} is not exported`,
    ),
    ...wrongName.map((name) => `the name of the class "${name}" does not end in Skill`),
  ];
}
