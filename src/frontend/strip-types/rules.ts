import type { SourceFinding } from "../../shared/source-text.ts";
import { eraseClass, eraseMember, eraseParameterProperty } from "./classes.ts";
import {
  blankStatement,
  getChild,
  getChildren,
  isTsNode,
  type Rule,
  getFirstLine,
  type TsNode,
  type StripContext,
} from "./nodes.ts";

/** Rules by node type. Every other node whose type begins with TS is blanked. */
export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["TSInterfaceDeclaration", blankStatement],
  ["TSTypeAliasDeclaration", blankStatement],
  ["TSDeclareFunction", blankStatement],
  ["TSIndexSignature", blankStatement],
  [
    "TSEnumDeclaration",
    (node, context) => (node["declare"] === true ? blankStatement(node, context) : refuseEnum(node, context)),
  ],
  [
    "TSModuleDeclaration",
    (node, context) => (node["declare"] === true ? blankStatement(node, context) : refuseNamespace(node, context)),
  ],
  ["TSImportEqualsDeclaration", refuseModule],
  ["TSExportAssignment", refuseModule],
  ["Decorator", refuseDecorator],
  ["TSAsExpression", eraseAs],
  ["TSSatisfiesExpression", eraseAs],
  ["TSNonNullExpression", eraseNonNull],
  ["TSTypeAssertion", eraseAssertion],
  ["TSInstantiationExpression", () => "parts"],
  ["TSParameterProperty", eraseParameterProperty],
  ["ImportDeclaration", eraseImport],
  ["ImportSpecifier", eraseSpecifier],
  ["ExportSpecifier", eraseSpecifier],
  ["ExportNamedDeclaration", eraseExport],
  ["ExportDefaultDeclaration", eraseExport],
  ["VariableDeclaration", (node, context) => (node["declare"] === true ? blankStatement(node, context) : "parts")],
  ["VariableDeclarator", (node, context) => eraseSign(getChild(node, "id"), "!", node["definite"], context)],
  ["Identifier", (node, context) => eraseSign(node, "?", node["optional"], context)],
  ["ObjectPattern", (node, context) => eraseSign(node, "?", node["optional"], context)],
  ["ArrayPattern", (node, context) => eraseSign(node, "?", node["optional"], context)],
  ["ClassDeclaration", eraseClass],
  ["ClassExpression", eraseClass],
  ["PropertyDefinition", eraseMember],
  ["MethodDefinition", eraseMember],
  ["FunctionDeclaration", eraseThis],
  ["FunctionExpression", eraseThis],
  ["ArrowFunctionExpression", eraseReturnType],
]);

function refuse(node: TsNode, context: StripContext, finding: Pick<SourceFinding, "code" | "values" | "fix">): "whole" {
  context.refused.push({ ...finding, start: node.start, end: node.end });
  return "whole";
}

function refuseEnum(node: TsNode, context: StripContext): "whole" {
  const name = getFirstLine(getChild(node, "id"), context);
  let next: number | undefined = 0;
  const members: string[] = [];
  for (const member of getChildren(node).filter(({ type }) => type === "TSEnumMember")) {
    const initial = getChild(member, "initializer");
    const value: string = initial === undefined ? String(next ?? 0) : getFirstLine(initial, context);
    next = /^\d{1,9}$/.test(value) ? Number(value) + 1 : undefined;
    members.push(`${getFirstLine(getChild(member, "id"), context)}: ${value}`);
  }
  const body = members.length > 0 && members.length <= 8 ? `{ ${members.join(", ")} }` : "{ … }";
  return refuse(node, context, {
    code: "NODE_FORBIDDEN",
    values: `enum ${name}`,
    fix: `Write const ${name} = Object.freeze(${body})`,
  });
}

function refuseNamespace(node: TsNode, context: StripContext): "whole" {
  const name = getFirstLine(getChild(node, "id"), context);
  const fix = `Leave the namespace out, or write an object: const ${name} = { … }`;
  return refuse(node, context, { code: "NODE_FORBIDDEN", values: `namespace ${name}`, fix });
}

function refuseDecorator(node: TsNode, context: StripContext): "whole" {
  const fix = "Leave it out, or call the function yourself: const Decorated = decorate(Plain)";
  return refuse(node, context, { code: "NODE_FORBIDDEN", values: `decorator ${getFirstLine(node, context)}`, fix });
}

function refuseModule(node: TsNode, context: StripContext): "whole" {
  return refuse(node, context, { code: "MODULE_FORBIDDEN", values: getFirstLine(node, context) });
}

function eraseAs(node: TsNode, context: StripContext): "parts" {
  const [expression, type] = [getChild(node, "expression"), getChild(node, "typeAnnotation")];
  if (expression === undefined || type === undefined) return "parts";
  const between = context.text.slice(expression.end, type.start);
  const keyword = Math.max(between.lastIndexOf("as"), between.lastIndexOf("satisfies"));
  if (keyword >= 0) context.spans.push({ start: expression.end + keyword, end: type.start });
  return "parts";
}

function eraseNonNull(node: TsNode, context: StripContext): "parts" {
  context.spans.push({ start: node.end - 1, end: node.end });
  return "parts";
}

function eraseAssertion(node: TsNode, context: StripContext): "parts" {
  const type = getChild(node, "typeAnnotation");
  const close = type === undefined ? -1 : context.text.indexOf(">", type.end);
  if (close >= 0) context.spans.push({ start: node.start, end: close + 1 });
  return "parts";
}

function eraseImport(node: TsNode, context: StripContext): "whole" | "parts" {
  if (node["importKind"] === "type") return blankStatement(node, context);
  const specifiers = getChildren(node).filter(({ type }) => type.endsWith("Specifier"));
  const onlyTypes = specifiers.length > 0 && specifiers.every((specifier) => specifier["importKind"] === "type");
  return onlyTypes ? blankStatement(node, context) : "parts";
}

/** Erases `type A` in a list of names, with the comma after it. */
function eraseSpecifier(node: TsNode, context: StripContext): "whole" | "parts" {
  if (node["importKind"] !== "type" && node["exportKind"] !== "type") return "parts";
  const comma = /^\s*,/.exec(context.text.slice(node.end, node.end + 400))?.[0].length ?? 0;
  context.spans.push({ start: node.start, end: node.end + comma });
  return "whole";
}

function eraseExport(node: TsNode, context: StripContext): "whole" | "parts" {
  const declaration = getChild(node, "declaration");
  const isType =
    declaration !== undefined &&
    (declaration["declare"] === true || /^TS(?:Interface|TypeAlias|DeclareFunction)/.test(declaration.type));
  return node["exportKind"] === "type" || isType ? blankStatement(node, context) : "parts";
}

/** Erases the `?` or `!` between a name and its type. */
function eraseSign(node: TsNode | undefined, sign: string, present: unknown, context: StripContext): "parts" {
  if (node === undefined || present !== true) return "parts";
  const before = getChild(node, "typeAnnotation")?.start ?? node.end;
  const at = context.text.lastIndexOf(sign, before);
  if (at >= node.start) context.spans.push({ start: at, end: at + 1 });
  return "parts";
}

function eraseThis(node: TsNode, context: StripContext): "parts" {
  const parameters = Array.isArray(node["params"]) ? node["params"].filter(isTsNode) : [];
  const [first, second] = parameters;
  if (first?.type === "Identifier" && first["name"] === "this") {
    const comma = /^\s*,/.exec(context.text.slice(first.end))?.[0].length ?? 0;
    context.spans.push({ start: first.start, end: second?.start ?? first.end + comma });
  }
  return "parts";
}

/** Moves the closing parenthesis behind a return type of several lines: a line break before the arrow is a syntax error. */
function eraseReturnType(node: TsNode, context: StripContext): "parts" {
  const type = getChild(node, "returnType");
  if (type === undefined || !context.text.slice(type.start, type.end).includes("\n")) return "parts";
  const bracket = context.text.lastIndexOf(")", type.start);
  context.spans.push({ start: bracket, end: bracket + 1 });
  context.replacements.push({ at: type.end - 1, character: ")" });
  return "parts";
}
