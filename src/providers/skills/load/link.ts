import { dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";

import { getName, nodeAt, nodesAt, type SyntaxNode } from "../type-reader/syntax.ts";
import {
  getImportedName,
  type Graph,
  hasExport,
  isUsed,
  isValue,
  type LinkTarget,
  mistakeAt,
  type ModulePart,
} from "./graph.ts";
import type { SkillImport } from "./module-imports.ts";
import { applyEdits, type TextEdit } from "../../../shared/source-text.ts";
import type { ModuleText } from "./module-text.ts";

/** Returns the file name of a part. */
export function toName({ index, module: { format } }: ModulePart, stem: string): string {
  return `${stem}${index === 0 ? "" : `-${index}`}.${format === "esm" ? "mjs" : "cjs"}`;
}

/** Writes the imports of a part for its place beside the others. */
export function linkPart(part: ModulePart, graph: Graph, stem: string): string {
  const { module, facts, targets } = part;
  const edits: TextEdit[] = facts.metas.flatMap(({ node, name }) => {
    const text = getMeta(name, module.file);
    return text === undefined ? [] : [{ start: node.start, end: node.end, text }];
  });
  for (const found of facts.imports) {
    const target = targets.get(found);
    if (target === undefined) edits.push(replaceStatement(found.statement, module, ""));
    else edits.push(linkImport(found, target, { part, graph, stem }));
  }
  if (module.namesTypes) edits.push(...dropExportedTypes(part, graph));
  return addPlace(part, applyEdits(module.text, edits));
}

interface LinkContext {
  readonly part: ModulePart;
  readonly graph: Graph;
  readonly stem: string;
}

function linkImport(found: SkillImport, target: LinkTarget, { part, graph, stem }: LinkContext): TextEdit {
  const { kind, literal, statement } = found;
  const other = "file" in target ? graph.byFile.get(target.file) : undefined;
  const specifier = JSON.stringify("specifier" in target ? target.specifier : `./${other && toName(other, stem)}`);
  if (kind === "require" && other !== undefined) {
    return { start: statement.start, end: statement.end, text: `__require(${specifier})` };
  }
  if (kind === "require" || kind === "dynamic") return { start: literal.start, end: literal.end, text: specifier };
  const clause = createClause(found, part, other, graph);
  return replaceStatement(statement, part.module, clause === undefined ? "" : `${kind} ${clause}${specifier};`);
}

/** Replaces a statement; the lines after it stay where they are. */
function replaceStatement({ start, end }: SyntaxNode, { text }: ModuleText, replacement: string): TextEdit {
  return { start, end, text: (replacement || ";") + text.slice(start, end).replace(/[^\n]/g, "") };
}

/** Returns the names of an import or export, without those of types, and `from`; `undefined` if none is left. */
function createClause(
  found: SkillImport,
  part: ModulePart,
  other: ModulePart | undefined,
  graph: Graph,
): string | undefined {
  const { kind, statement } = found;
  if (statement.type === "ExportAllDeclaration") {
    const exported = getName(nodeAt(statement, "exported"));
    return exported === undefined ? "* from " : `* as ${quoteName(exported)} from `;
  }
  const specifiers = nodesAt(statement, "specifiers");
  if (specifiers.length === 0) return kind === "import" ? "" : "{} from ";
  const names = specifiers.flatMap((each) => createName(each, { found, part, other, graph }) ?? []);
  if (names.length === 0) return undefined;
  const isAlone = (name: string): boolean => !name.startsWith("{");
  const list = names.flatMap((name) => (isAlone(name) ? [] : [name.slice(2, -2)]));
  return [...names.filter(isAlone), ...(list.length > 0 ? [`{ ${list.join(", ")} }`] : [])].join(", ") + " from ";
}

interface NameContext {
  readonly found: SkillImport;
  readonly part: ModulePart;
  readonly other: ModulePart | undefined;
  readonly graph: Graph;
}

/** Returns `a`, `* as a` or `{ a as b }`; `undefined` for the name of a type. Throws for a name that does not exist. */
function createName(node: SyntaxNode, { found, part, other, graph }: NameContext): string | undefined {
  const { kind, specifier } = found;
  const { module, facts } = part;
  const local = getName(nodeAt(node, "local")) ?? "";
  if (kind === "import" && module.namesTypes && !isUsed(local, facts, module.program)) return undefined;
  const from = kind === "export" ? local : getImportedName(node);
  if (from === undefined) return `* as ${local}`;
  if (!hasExport(other, from, graph)) {
    if (module.namesTypes && (kind === "export" || !facts.used.has(local))) return undefined;
    const file = relative(dirname(module.file), other?.module.file ?? specifier);
    throw mistakeAt(module, node, `No matching export in "${file}" for import "${from}"`);
  }
  if (node.type === "ImportDefaultSpecifier") return local;
  const to = kind === "export" ? (getName(nodeAt(node, "exported")) ?? local) : local;
  return `{ ${from === to ? quoteName(from) : `${quoteName(from)} as ${quoteName(to)}`} }`;
}

/** Writes `export { … }` without the names of types. */
function dropExportedTypes(part: ModulePart, graph: Graph): readonly TextEdit[] {
  const { module } = part;
  const lists = nodesAt(module.program, "body").filter(
    (each) => each.type === "ExportNamedDeclaration" && nodeAt(each, "source") === undefined,
  );
  return lists.flatMap((list) => {
    const specifiers = nodesAt(list, "specifiers");
    const values = specifiers.filter((each) => isValue(getName(nodeAt(each, "local")) ?? "", part, graph));
    if (values.length === specifiers.length) return [];
    const names = values.map(({ start, end }) => module.text.slice(start, end));
    return [replaceStatement(list, module, `export { ${names.join(", ")} };`)];
  });
}

function quoteName(name: string): string {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}

function getMeta(name: string, file: string): string | undefined {
  switch (name) {
    case "url":
      return JSON.stringify(pathToFileURL(file).href);
    case "filename":
      return JSON.stringify(file);
    case "dirname":
      return JSON.stringify(dirname(file));
    default:
      return undefined;
  }
}

/** Adds the path of the source, which stacks show, and what the file knows of its own place. */
export function addPlace({ module, facts, targets }: ModulePart, text: string, format = module.format): string {
  const { file } = module;
  const { used, declared, imports } = facts;
  const url = pathToFileURL(file).href;
  const wants = (name: string): boolean => used.has(name) && !declared.has(name);
  const constants = { __filename: JSON.stringify(file), __dirname: JSON.stringify(dirname(file)) };
  const require = `process.getBuiltinModule("node:module").createRequire(${JSON.stringify(url)})`;
  const keyword = format === "cjs" ? "" : "const ";
  const hasRequiredParts = imports.some((each) => each.kind === "require" && "file" in (targets.get(each) ?? {}));
  const lines = Object.entries(constants).flatMap(([name, value]) =>
    wants(name) ? [`${keyword}${name} = ${value};`] : [],
  );
  if (hasRequiredParts) {
    const own = format === "cjs" ? "require" : 'process.getBuiltinModule("node:module").createRequire(import.meta.url)';
    lines.push(`const __require = ${own};`);
  }
  if (wants("require")) lines.push(`${keyword}require = ${require};`);
  // ES modules are strict.
  if (format !== module.format) lines.unshift('"use strict";');
  const body = text.replace(/^#![^\n]*/, "");
  const end = /\n\/\/# sourceMappingURL=[^\n]*$/.test(text) ? "" : `\n//# sourceURL=${url}\n`;
  return `${lines.join("")}${body}${end}`;
}
