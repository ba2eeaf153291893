import { docImportsIn, typedefsIn } from "./jsdoc/doc-types.ts";
import { getName, nodeAt, nodesAt, type Source, type SyntaxNode } from "./syntax.ts";

/** The names that one file declares, imports and exports. */
export interface FileNames {
  readonly source: Source;
  readonly types: ReadonlyMap<string, TypeDeclaration>;
  /** Top-level declarations: functions, classes, and the declarators of variables. */
  readonly values: ReadonlyMap<string, SyntaxNode>;
  readonly imports: ReadonlyMap<string, ImportedName>;
  /** By exported name: the local name, or the import that it re-exports. */
  readonly exports: ReadonlyMap<string, string | ImportedName>;
  /** Modules of `export * from`. */
  readonly stars: readonly string[];
}

/** The declarations of one name; an interface may have several. Their nodes are in `source`. */
export interface TypeDeclaration {
  readonly name: string;
  readonly nodes: readonly SyntaxNode[];
  readonly source: Source;
  /** The names that are visible in the declaration. */
  readonly names: FileNames;
}

export interface ImportedName {
  /** The import specifier: `./types.ts`, `zod`. */
  readonly from: string;
  /** The exported name; `*` for all of them. */
  readonly name: string;
}

export function namesIn(source: Source): FileNames {
  const names = {
    source,
    types: new Map<string, TypeDeclaration>(),
    values: new Map<string, SyntaxNode>(),
    imports: new Map<string, ImportedName>(),
    exports: new Map<string, string | ImportedName>(),
    stars: [] as string[],
  };
  for (const statement of nodesAt(source.program, "body")) collect(statement, names);
  for (const statement of docImportsIn(source)) collect(statement, names);
  for (const { name, node, source } of typedefsIn(names.source)) {
    names.types.set(name, { name, nodes: [node], source, names });
    if (!names.exports.has(name)) names.exports.set(name, name);
  }
  return names;
}

type Collected = {
  [Field in keyof FileNames]: FileNames[Field] extends ReadonlyMap<string, infer V> ? Map<string, V> : FileNames[Field];
} & {
  readonly stars: string[];
};

function collect(statement: SyntaxNode, names: Collected): void {
  const declaration = nodeAt(statement, "declaration");
  switch (statement.type) {
    case "ImportDeclaration":
      return collectImports(statement, names);
    case "ExportAllDeclaration":
      return collectStar(statement, names);
    case "ExportNamedDeclaration":
      for (const name of declare(declaration, names)) names.exports.set(name, name);
      return collectSpecifiers(statement, names);
    case "ExportDefaultDeclaration": {
      const name = declare(declaration, names)[0] ?? getName(declaration);
      if (name !== undefined) names.exports.set("default", name);
      return undefined;
    }
    default:
      declare(statement, names);
  }
}

function collectImports(statement: SyntaxNode, { imports }: Collected): void {
  const from = getName(nodeAt(statement, "source")) ?? "";
  for (const specifier of nodesAt(statement, "specifiers")) {
    const local = getName(nodeAt(specifier, "local")) ?? "";
    imports.set(local, { from, name: importedName(specifier) ?? local });
  }
}

function importedName(specifier: SyntaxNode): string | undefined {
  if (specifier.type === "ImportNamespaceSpecifier") return "*";
  return specifier.type === "ImportDefaultSpecifier" ? "default" : getName(nodeAt(specifier, "imported"));
}

function collectStar(statement: SyntaxNode, { exports, stars }: Collected): void {
  const from = getName(nodeAt(statement, "source")) ?? "";
  const as = getName(nodeAt(statement, "exported"));
  if (as === undefined) stars.push(from);
  else exports.set(as, { from, name: "*" });
}

function collectSpecifiers(statement: SyntaxNode, { exports }: Collected): void {
  const from = getName(nodeAt(statement, "source"));
  for (const specifier of nodesAt(statement, "specifiers")) {
    const local = getName(nodeAt(specifier, "local")) ?? "";
    const exported = getName(nodeAt(specifier, "exported")) ?? local;
    exports.set(exported, from === undefined ? local : { from, name: local });
  }
}

const TYPE_STATEMENTS: ReadonlySet<string> = new Set([
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSEnumDeclaration",
]);

/** Adds the declarations of a statement and returns their names. */
function declare(statement: SyntaxNode | undefined, names: Collected): readonly string[] {
  const declared = statement?.type === "VariableDeclaration" ? nodesAt(statement, "declarations") : [statement];
  return declared.flatMap((node) => {
    const name = getName(nodeAt(node, "id"));
    if (node === undefined || name === undefined) return [];
    if (TYPE_STATEMENTS.has(node.type)) {
      const { source } = names;
      names.types.set(name, { name, nodes: [...(names.types.get(name)?.nodes ?? []), node], source, names });
    } else if (node.type !== "TSDeclareFunction") {
      names.values.set(name, node);
    }
    return [name];
  });
}
