import type { Finding } from "../model/frame.ts";
import { eraseClass, eraseMember, eraseParameterProperty } from "./erase-classes.ts";
import {
  blankStatement,
  childOf,
  childrenOf,
  isTsNode,
  type Rule,
  textOf,
  type TsNode,
  type Work,
} from "./ts-nodes.ts";

/** Every other node whose name begins with TS is a type and becomes blank. */
export const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["TSInterfaceDeclaration", blankStatement],
  ["TSTypeAliasDeclaration", blankStatement],
  ["TSDeclareFunction", blankStatement],
  ["TSIndexSignature", blankStatement],
  [
    "TSEnumDeclaration",
    (node, work) => (node["declare"] === true ? blankStatement(node, work) : refuseEnum(node, work)),
  ],
  [
    "TSModuleDeclaration",
    (node, work) => (node["declare"] === true ? blankStatement(node, work) : refuseNamespace(node, work)),
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
  ["ExportNamedDeclaration", eraseExport],
  ["ExportDefaultDeclaration", eraseExport],
  ["VariableDeclaration", (node, work) => (node["declare"] === true ? blankStatement(node, work) : "parts")],
  ["VariableDeclarator", (node, work) => eraseSign(childOf(node, "id"), "!", node["definite"], work)],
  ["Identifier", (node, work) => eraseSign(node, "?", node["optional"], work)],
  ["ObjectPattern", (node, work) => eraseSign(node, "?", node["optional"], work)],
  ["ArrayPattern", (node, work) => eraseSign(node, "?", node["optional"], work)],
  ["ClassDeclaration", eraseClass],
  ["ClassExpression", eraseClass],
  ["PropertyDefinition", eraseMember],
  ["MethodDefinition", eraseMember],
  ["FunctionDeclaration", eraseThis],
  ["FunctionExpression", eraseThis],
  ["ArrowFunctionExpression", eraseReturnType],
]);

function refuse(node: TsNode, work: Work, finding: Pick<Finding, "code" | "values" | "fix">): "whole" {
  work.refused.push({ ...finding, start: node.start, end: node.end });
  return "whole";
}

function refuseEnum(node: TsNode, work: Work): "whole" {
  const name = textOf(childOf(node, "id"), work);
  let next: number | undefined = 0;
  const members: string[] = [];
  for (const member of childrenOf(node).filter(({ type }) => type === "TSEnumMember")) {
    const initial = childOf(member, "initializer");
    const value: string = initial === undefined ? String(next ?? 0) : textOf(initial, work);
    next = /^\d{1,9}$/.test(value) ? Number(value) + 1 : undefined;
    members.push(`${textOf(childOf(member, "id"), work)}: ${value}`);
  }
  const body = members.length > 0 && members.length <= 8 ? `{ ${members.join(", ")} }` : "{ … }";
  return refuse(node, work, {
    code: "NODE_FORBIDDEN",
    values: `enum ${name}`,
    fix: `Write const ${name} = Object.freeze(${body})`,
  });
}

function refuseNamespace(node: TsNode, work: Work): "whole" {
  const name = textOf(childOf(node, "id"), work);
  const fix = `Leave the namespace out, or write an object: const ${name} = { … }`;
  return refuse(node, work, { code: "NODE_FORBIDDEN", values: `namespace ${name}`, fix });
}

function refuseDecorator(node: TsNode, work: Work): "whole" {
  const fix = "Leave it out, or call the function yourself: const Decorated = decorate(Plain)";
  return refuse(node, work, { code: "NODE_FORBIDDEN", values: `decorator ${textOf(node, work)}`, fix });
}

function refuseModule(node: TsNode, work: Work): "whole" {
  return refuse(node, work, { code: "MODULE_FORBIDDEN", values: textOf(node, work) });
}

function eraseAs(node: TsNode, work: Work): "parts" {
  const [expression, type] = [childOf(node, "expression"), childOf(node, "typeAnnotation")];
  if (expression === undefined || type === undefined) return "parts";
  const between = work.text.slice(expression.end, type.start);
  const keyword = Math.max(between.lastIndexOf("as"), between.lastIndexOf("satisfies"));
  if (keyword >= 0) work.spans.push({ start: expression.end + keyword, end: type.start });
  return "parts";
}

function eraseNonNull(node: TsNode, work: Work): "parts" {
  work.spans.push({ start: node.end - 1, end: node.end });
  return "parts";
}

function eraseAssertion(node: TsNode, work: Work): "parts" {
  const type = childOf(node, "typeAnnotation");
  const close = type === undefined ? -1 : work.text.indexOf(">", type.end);
  if (close >= 0) work.spans.push({ start: node.start, end: close + 1 });
  return "parts";
}

function eraseImport(node: TsNode, work: Work): "whole" | "parts" {
  if (node["importKind"] === "type") return blankStatement(node, work);
  const specifiers = childrenOf(node).filter(({ type }) => type.endsWith("Specifier"));
  const onlyTypes = specifiers.length > 0 && specifiers.every((specifier) => specifier["importKind"] === "type");
  return onlyTypes ? blankStatement(node, work) : "parts";
}

function eraseExport(node: TsNode, work: Work): "whole" | "parts" {
  const declaration = childOf(node, "declaration");
  const isType =
    declaration !== undefined &&
    (declaration["declare"] === true || /^TS(?:Interface|TypeAlias|DeclareFunction)/.test(declaration.type));
  return node["exportKind"] === "type" || isType ? blankStatement(node, work) : "parts";
}

/** The `?` or `!` between a name and its type. */
function eraseSign(node: TsNode | undefined, sign: string, present: unknown, work: Work): "parts" {
  if (node === undefined || present !== true) return "parts";
  const before = childOf(node, "typeAnnotation")?.start ?? node.end;
  const at = work.text.lastIndexOf(sign, before);
  if (at >= node.start) work.spans.push({ start: at, end: at + 1 });
  return "parts";
}

function eraseThis(node: TsNode, work: Work): "parts" {
  const parameters = Array.isArray(node["params"]) ? node["params"].filter(isTsNode) : [];
  const [first, second] = parameters;
  if (first?.type === "Identifier" && first["name"] === "this") {
    const comma = /^\s*,/.exec(work.text.slice(first.end))?.[0].length ?? 0;
    work.spans.push({ start: first.start, end: second?.start ?? first.end + comma });
  }
  return "parts";
}

/** No line may end between the parameters and the arrow, so the bracket moves behind a type of several lines. */
function eraseReturnType(node: TsNode, work: Work): "parts" {
  const type = childOf(node, "returnType");
  if (type === undefined || !work.text.slice(type.start, type.end).includes("\n")) return "parts";
  const bracket = work.text.lastIndexOf(")", type.start);
  work.spans.push({ start: bracket, end: bracket + 1 });
  work.marks.push({ at: type.end - 1, character: ")" });
  return "parts";
}
