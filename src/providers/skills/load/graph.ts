import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { findPackageFile } from "../../../../sandbox/package-files.ts";
import { ModuleFiles } from "../source-files.ts";
import { getName, nodeAt, nodesAt, type Source, SourceError, type SyntaxNode } from "../type-reader/syntax.ts";
import { isInside } from "./discover.ts";
import { findFacts, listDeclaredNames, type SkillModuleFacts, type SkillImport } from "./module-imports.ts";
import { type ModuleText, readModuleText } from "./module-text.ts";
import { resolveImport } from "./resolve.ts";

export interface CompileRequest {
  readonly entry: string;
  /** The entry if it has been parsed. */
  readonly source?: Source | undefined;
  /** The skills folder. */
  readonly root: string;
  /** Files of this package by import name; by default the one for skills. */
  readonly own?: Readonly<Record<string, string>>;
  /** Reads the files that decide what runs, and remembers their digests. */
  readonly sources?: ModuleFiles;
}

/** One local file. */
export interface ModulePart {
  readonly index: number;
  readonly module: ModuleText;
  readonly facts: SkillModuleFacts;
  readonly targets: ReadonlyMap<SkillImport, LinkTarget>;
}

/** Another part, the address of a package file, or what the source says. */
export type LinkTarget = { readonly file: string } | { readonly specifier: string };

export interface Graph {
  readonly parts: readonly ModulePart[];
  readonly byFile: ReadonlyMap<string, ModulePart>;
  readonly packages: ReadonlySet<string>;
}

/** Reads the entry and the local files that it imports. Throws a `SourceError`. */
export function readGraph({ sources = new ModuleFiles(), ...request }: CompileRequest): Graph {
  const byFile = new Map<string, ModulePart>();
  const packages = new Set<string>();
  const queue = [request.entry];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    if (byFile.has(file)) continue;
    const module = readModuleText(file, sources, file === request.entry ? request.source : undefined);
    const facts = findFacts(module);
    const imports = facts.imports.filter((each) => !isErased(each, module, facts));
    const targets = new Map(imports.map((each) => [each, findTarget(each, module, { ...request, sources })]));
    for (const target of targets.values()) {
      if ("file" in target) queue.push(target.file);
      else if (target.specifier.startsWith("file:")) packages.add(fileURLToPath(target.specifier));
    }
    byFile.set(file, { index: byFile.size, module, facts, targets });
  }
  return { parts: [...byFile.values()], byFile, packages };
}

/** True for an import in a TypeScript file of which only types are used. */
function isErased(
  { kind, statement }: SkillImport,
  { namesTypes, program }: ModuleText,
  facts: SkillModuleFacts,
): boolean {
  if (kind !== "import" || !namesTypes) return false;
  const names = nodesAt(statement, "specifiers").map((each) => getName(nodeAt(each, "local")) ?? "");
  return names.length > 0 && names.every((name) => !isUsed(name, facts, program));
}

export function isUsed(name: string, { used }: SkillModuleFacts, program: SyntaxNode): boolean {
  return used.has(name) || listExportedLocals(program).has(name);
}

function listExportedLocals(program: SyntaxNode): ReadonlySet<string> {
  const lists = nodesAt(program, "body").filter(
    (each) => each.type === "ExportNamedDeclaration" && nodeAt(each, "source") === undefined,
  );
  return new Set(
    lists.flatMap((list) => nodesAt(list, "specifiers")).map((each) => getName(nodeAt(each, "local")) ?? ""),
  );
}

type FileRequest = CompileRequest & Required<Pick<CompileRequest, "sources">>;

function findTarget(
  found: SkillImport,
  module: ModuleText,
  { root, own = { skillgate: findSkillModule() }, sources }: FileRequest,
): LinkTarget {
  const { specifier, kind } = found;
  const isRequired = kind === "require" || (kind !== "dynamic" && module.format === "cjs");
  if (Object.hasOwn(own, specifier)) return toFileTarget(own[specifier] ?? "", isRequired);
  const target = resolveImport(specifier, module.file, sources);
  if (target.kind === "local") {
    requireInside(found, target.file, module, root);
    return { file: target.file };
  }
  if (target.kind === "missing" && /^[./#]/.test(specifier) && kind !== "dynamic") {
    throw mistakeAt(module, found.literal, `Could not resolve ${JSON.stringify(specifier)}`);
  }
  if (target.kind === "package") sources.addDigest(target.file);
  return target.kind === "package" && !isRequired ? toFileTarget(target.file, false) : { specifier };
}

function toFileTarget(file: string, isRequired: boolean): LinkTarget {
  return { specifier: isRequired ? file : pathToFileURL(file).href };
}

function requireInside({ specifier, literal }: SkillImport, file: string, module: ModuleText, root: string): void {
  const isLink = specifier.startsWith(".") && isInside(root, resolve(dirname(module.file), specifier));
  if (isLink && !isInside(root, file))
    throw mistakeAt(module, literal, `"${specifier}" is a symbolic link that leaves the skills folder`);
}

/** The module behind `import "skillgate"` in a skill: only `defineSkill`, not the whole runtime. */
function findSkillModule(): string {
  const getUrl = (): URL => new URL("../../../authoring/define-skill.js", import.meta.url);
  return fileURLToPath(findPackageFile("src/authoring/define-skill.js", getUrl));
}

export function mistakeAt({ file, text }: ModuleText, { start }: SyntaxNode, message: string): SourceError {
  const before = text.slice(0, start).split("\n");
  return new SourceError(message, before.length, (before.at(-1)?.length ?? 0) + 1, file);
}

/** False if a local ES module does not export the name, so that it can only be that of a type. */
export function hasExport(
  part: ModulePart | undefined,
  name: string,
  graph: Graph,
  visited: readonly ModulePart[] = [],
): boolean {
  if (part === undefined || part.module.format === "cjs") return true;
  if (visited.includes(part)) return false;
  const path = [...visited, part];
  return nodesAt(part.module.program, "body").some((statement) => {
    if (statement.type === "ExportDefaultDeclaration") return name === "default";
    const next = findPart(statement, part, graph);
    if (statement.type === "ExportAllDeclaration") {
      const exported = getName(nodeAt(statement, "exported"));
      return exported === undefined ? name !== "default" && hasExport(next, name, graph, path) : exported === name;
    }
    if (statement.type !== "ExportNamedDeclaration") return false;
    if (listDeclaredNames(nodeAt(statement, "declaration")).includes(name)) return true;
    const specifier = nodesAt(statement, "specifiers").find((each) => getName(nodeAt(each, "exported")) === name);
    if (specifier === undefined) return false;
    const local = getName(nodeAt(specifier, "local")) ?? "";
    return nodeAt(statement, "source") === undefined
      ? isValue(local, part, graph, path)
      : hasExport(next, local, graph, path);
  });
}

/** True if a name at the top of a file is declared there, or imported from where it is not only a type. */
export function isValue(local: string, part: ModulePart, graph: Graph, visited: readonly ModulePart[] = []): boolean {
  return nodesAt(part.module.program, "body").some((statement) => {
    if (statement.type !== "ImportDeclaration") {
      return listDeclaredNames(nodeAt(statement, "declaration") ?? statement).includes(local);
    }
    const specifier = nodesAt(statement, "specifiers").find((each) => getName(nodeAt(each, "local")) === local);
    if (specifier === undefined) return false;
    const imported = getImportedName(specifier);
    return imported === undefined || hasExport(findPart(statement, part, graph), imported, graph, visited);
  });
}

/** Returns the name in the other module; `undefined` for a namespace. */
export function getImportedName(specifier: SyntaxNode): string | undefined {
  if (specifier.type === "ImportNamespaceSpecifier") return undefined;
  return specifier.type === "ImportDefaultSpecifier" ? "default" : getName(nodeAt(specifier, "imported"));
}

/** Returns the local file that a statement imports. */
function findPart(statement: SyntaxNode, { targets }: ModulePart, graph: Graph): ModulePart | undefined {
  const found = [...targets].find(([each]) => each.statement === statement)?.[1];
  return found !== undefined && "file" in found ? graph.byFile.get(found.file) : undefined;
}
