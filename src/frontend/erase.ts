import type { Finding } from "../model/frame.ts";
import type { Edit } from "../model/snippet.ts";
import { blanked, type Span } from "./blank.ts";
import { parseTypeScript } from "./parser.ts";

/** JavaScript in the place of TypeScript, or what TypeScript has that is not only types. */
export interface Erased {
  readonly text: string;
  readonly edits: readonly Edit[];
  readonly refused: readonly Finding[];
}

/**
 * Blanks everything that is only type, so that the rest keeps its lines and columns. Throws `ParseFailure` for what is not
 * TypeScript either. The result is parsed again as JavaScript: this function has no say in what is allowed.
 */
export function eraseTypes(text: string): Erased {
  const work: Work = { text, spans: [], marks: [], ends: new Set(), edits: [], refused: [] };
  const stack: TsNode[] = [parseTypeScript(text) as unknown as TsNode];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const rule = RULES.get(node.type) ?? (node.type.startsWith("TS") ? blankAll : undefined);
    if (rule?.(node, work) === "whole") continue;
    if (ENDED.has(node.type)) work.ends.add(node.end);
    for (const child of childrenOf(node)) stack.push(child);
  }
  return { text: written(work), edits: work.edits, refused: work.refused };
}

/** A node of a tree in TypeScript, of which acorn has no types. What a field holds is looked at before it is used. */
interface TsNode extends Span {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Work {
  readonly text: string;
  /** What becomes blank. */
  readonly spans: Span[];
  /** Single characters that are written over the blanks. */
  readonly marks: { readonly at: number; readonly character: string }[];
  /** Where statements end that may have no semicolon. */
  readonly ends: Set<number>;
  readonly edits: Edit[];
  readonly refused: Finding[];
}

/** `whole`: nothing inside of the node is left to look at. */
type Rule = (node: TsNode, work: Work) => "whole" | "parts";

/** Statements and fields after which the next line could become a part of them, once their end is blank. */
const ENDED: ReadonlySet<string> = new Set([
  "ExpressionStatement",
  "VariableDeclaration",
  "ReturnStatement",
  "ThrowStatement",
  "PropertyDefinition",
]);

/** Every other node whose name begins with TS is a type and becomes blank. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
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

function blankAll(node: TsNode, work: Work): "whole" {
  work.spans.push(node);
  return "whole";
}

/** A semicolon takes its place, so that the statement before it ends where it did. */
function blankStatement(node: TsNode, work: Work): "whole" {
  work.marks.push({ at: node.start, character: ";" });
  return blankAll(node, work);
}

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

/** `constructor(private x: T)` sets a field; JavaScript has to say so. */
function eraseParameterProperty(node: TsNode, work: Work): "parts" {
  const parameter = childOf(node, "parameter");
  if (parameter !== undefined) work.spans.push({ start: node.start, end: parameter.start });
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

function eraseClass(node: TsNode, work: Work): "whole" | "parts" {
  if (node["declare"] === true) return blankStatement(node, work);
  if (node["abstract"] === true)
    blankWords(/\babstract\b/g, node.start, childOf(node, "body")?.start ?? node.end, work);
  const heritage = Array.isArray(node["implements"]) ? node["implements"].filter(isTsNode) : [];
  const [first, last] = [heritage[0], heritage.at(-1)];
  if (first !== undefined && last !== undefined) {
    work.spans.push({ start: work.text.lastIndexOf("implements", first.start), end: last.end });
  }
  setParameterProperties(node, work);
  return "parts";
}

function eraseMember(node: TsNode, work: Work): "whole" | "parts" {
  const value = childOf(node, "value");
  const hasNoBody = value?.type === "TSDeclareMethod";
  if (node["abstract"] === true || node["declare"] === true || hasNoBody) return blankStatement(node, work);
  const key = childOf(node, "key");
  if (key === undefined) return "parts";
  const modifiers = blankWords(
    /\b(?:public|private|protected|readonly|override|declare)\b/g,
    node.start,
    key.start,
    work,
  );
  if (modifiers[0] === node.start) work.marks.push({ at: node.start, character: ";" });
  const sign = /^[\s\]]*([?!])/.exec(work.text.slice(key.end, key.end + 100));
  if (sign !== null && (node["optional"] === true || node["definite"] === true)) {
    work.spans.push({ start: key.end + sign[0].length - 1, end: key.end + sign[0].length });
  }
  return "parts";
}

/** Where they were. */
function blankWords(words: RegExp, start: number, end: number, work: Work): readonly number[] {
  return [...work.text.slice(start, end).matchAll(words)].map(({ 0: word, index }) => {
    work.spans.push({ start: start + index, end: start + index + word.length });
    return start + index;
  });
}

function setParameterProperties(node: TsNode, work: Work): void {
  const body = childOf(node, "body");
  const constructor = body && childrenOf(body).find((member) => member["kind"] === "constructor");
  const value = constructor && childOf(constructor, "value");
  const block = value && childOf(value, "body");
  if (value === undefined || block === undefined) return;
  const names = childrenOf(value).filter(({ type }) => type === "TSParameterProperty");
  if (names.length === 0) return;
  const before = names
    .map((property) => ` this.${nameOfProperty(property, work)} = ${nameOfProperty(property, work)};`)
    .join("");
  const callsSuper = childrenOf(block).find((statement) => work.text.startsWith("super", statement.start));
  const at = callsSuper?.end ?? block.start + 1;
  work.edits.push({ kind: "wrap", start: at, end: at, before: `;${before}`, after: "" });
}

function nameOfProperty(property: TsNode, work: Work): string {
  const parameter = childOf(property, "parameter");
  const name = parameter && (childOf(parameter, "left") ?? parameter);
  return /^[\w$]+/.exec(textOf(name, work))?.[0] ?? "_";
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

/** A blank end of a statement gets a semicolon where the next line would otherwise go on with it. */
function written({ text, spans, marks, ends }: Work): string {
  const ordered = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const apart: Span[] = [];
  for (const span of ordered) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
  }
  const stops = apart
    .filter(({ end }) => ends.has(end) && /^[^\S\n]*\n\s*[([`/+\-*]/.test(text.slice(end, end + 400)))
    .map(({ start }) => ({ at: start, character: ";" }));
  const result = blanked(text, apart);
  if (marks.length + stops.length === 0) return result;
  const characters = result.split("");
  for (const { at, character } of [...marks, ...stops]) characters[at] = character;
  return characters.join("");
}

function childrenOf(node: TsNode): readonly TsNode[] {
  return Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value) ? value.filter(isTsNode) : isTsNode(value) ? [value] : [],
  );
}

function childOf(node: TsNode, field: string): TsNode | undefined {
  const value = node[field];
  return isTsNode(value) ? value : undefined;
}

function isTsNode(value: unknown): value is TsNode {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}

function textOf(node: TsNode | undefined, work: Work): string {
  return node === undefined ? "" : (work.text.slice(node.start, node.end).split("\n", 1)[0] ?? "");
}
