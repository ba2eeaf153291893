import { getName, isNode, nodeAt, nodesAt, type SyntaxNode } from "../type-reader/syntax.ts";
import type { ModuleText } from "./module-text.ts";

/** A place in a file that names another module. */
export interface SkillImport {
  readonly kind: "import" | "export" | "dynamic" | "require";
  readonly specifier: string;
  /** The whole statement; the call for `import()` and `require()`. */
  readonly statement: SyntaxNode;
  /** The text in quotes. */
  readonly literal: SyntaxNode;
}

/** The names and imports of a file, for the compiler of modules. */
export interface SkillModuleFacts {
  readonly imports: readonly SkillImport[];
  /** `import.meta.url` and the like, with the name of the member. */
  readonly metas: readonly { readonly node: SyntaxNode; readonly name: string }[];
  /** Names that the code uses as values. */
  readonly used: ReadonlySet<string>;
  /** Names that the file declares, in any scope. */
  readonly declared: ReadonlySet<string>;
  readonly hasTopLevelAwait: boolean;
}

type CollectedFacts = {
  readonly imports: SkillImport[];
  readonly metas: { readonly node: SyntaxNode; readonly name: string }[];
  readonly used: Set<string>;
  readonly declared: Set<string>;
  hasTopLevelAwait: boolean;
};

export function findFacts({ program }: Pick<ModuleText, "program">): SkillModuleFacts {
  const facts: CollectedFacts = {
    imports: [],
    metas: [],
    used: new Set(),
    declared: new Set(),
    hasTopLevelAwait: false,
  };
  const stack: { readonly node: SyntaxNode; readonly isInFunction: boolean }[] = [
    { node: program, isInFunction: false },
  ];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, isInFunction } = next;
    collect(node, isInFunction, facts);
    const isInside = isInFunction || /Function|^PropertyDefinition$|^StaticBlock$/.test(node.type);
    for (const child of getValueChildren(node)) stack.push({ node: child, isInFunction: isInside });
  }
  return facts;
}

function collect(node: SyntaxNode, isInFunction: boolean, facts: CollectedFacts): void {
  switch (node.type) {
    case "Identifier":
      facts.used.add(String(node["name"]));
      break;
    case "AwaitExpression":
      facts.hasTopLevelAwait ||= !isInFunction;
      break;
    case "ForOfStatement":
      facts.hasTopLevelAwait ||= !isInFunction && node["await"] === true;
      break;
    case "ImportDeclaration":
      return addImport("import", node, nodeAt(node, "source"), facts);
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      return addImport("export", node, nodeAt(node, "source"), facts);
    case "ImportExpression":
      return addImport("dynamic", node, nodeAt(node, "source"), facts);
    case "CallExpression": {
      const [first] = nodesAt(node, "arguments");
      if (getName(nodeAt(node, "callee")) === "require") addImport("require", node, first, facts);
      break;
    }
    case "MemberExpression":
      if (nodeAt(node, "object")?.type === "MetaProperty") {
        facts.metas.push({ node, name: getName(nodeAt(node, "property")) ?? "" });
      }
      break;
    case "VariableDeclarator":
    case "FunctionDeclaration":
    case "ClassDeclaration": {
      const id = nodeAt(node, "id");
      if (id?.type === "Identifier") facts.declared.add(String(id["name"]));
      break;
    }
  }
}

function addImport(
  kind: SkillImport["kind"],
  statement: SyntaxNode,
  literal: SyntaxNode | undefined,
  { imports, declared }: CollectedFacts,
): void {
  for (const specifier of kind === "import" ? nodesAt(statement, "specifiers") : [])
    declared.add(getName(nodeAt(specifier, "local")) ?? "");
  if (literal?.type !== "Literal" || typeof literal["value"] !== "string") return;
  imports.push({ kind, specifier: literal["value"], statement, literal });
}

/** Returns the children without names that are no values: of members, keys, labels, imports and exports. */
function getValueChildren(node: SyntaxNode): readonly SyntaxNode[] {
  if (node.type === "ImportDeclaration" || node.type === "ExportSpecifier") return [];
  const children: SyntaxNode[] = [];
  for (const [field, value] of Object.entries(node)) {
    if (field === "loc") continue;
    const isName =
      (field === "property" && node["computed"] === false) ||
      (field === "key" && node["computed"] === false && node["shorthand"] !== true) ||
      field === "label";
    if (isName) continue;
    if (isNode(value)) children.push(value);
    else if (Array.isArray(value)) children.push(...value.filter(isNode));
  }
  return children;
}

/** Returns the names of a declaration, in patterns, too. */
export function listDeclaredNames(node: SyntaxNode | undefined): readonly string[] {
  switch (node?.type) {
    case "Identifier":
      return [String(node["name"])];
    case "VariableDeclaration":
      return nodesAt(node, "declarations").flatMap((each) => listDeclaredNames(nodeAt(each, "id")));
    case "FunctionDeclaration":
    case "ClassDeclaration":
      return listDeclaredNames(nodeAt(node, "id"));
    case "ObjectPattern":
      return nodesAt(node, "properties").flatMap((each) => listDeclaredNames(nodeAt(each, "value") ?? each));
    case "ArrayPattern":
      return nodesAt(node, "elements").flatMap(listDeclaredNames);
    case "AssignmentPattern":
      return listDeclaredNames(nodeAt(node, "left"));
    case "RestElement":
      return listDeclaredNames(nodeAt(node, "argument"));
    case undefined:
    default:
      return [];
  }
}
