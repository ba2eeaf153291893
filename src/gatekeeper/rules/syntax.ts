import type {
  AnyNode,
  AwaitExpression,
  CallExpression,
  ForOfStatement,
  Identifier,
  MethodDefinition,
  PrivateIdentifier,
  PropertyDefinition,
  ReturnStatement,
} from "acorn";
import { printableName } from "../../shared/source-text.ts";
import { REFUSED_NODES } from "./allowlist.ts";
import { describeModule } from "./globals.ts";
import { iterateAncestors, type CheckContext, getParent } from "../context.ts";
import { THEN } from "../awaits/promise-methods.ts";
import { isReject, markThrown } from "../emit/thrown-values.ts";
import { byType, type ByType, type FunctionNode, isAllowed, isFunction, literalName } from "../ast/walk.ts";

export type Await = AwaitExpression | ForOfStatement;

/** Facts about the syntax that the other steps need. */
export interface SyntaxFacts {
  /** `await` and `for await`. */
  readonly awaits: readonly Await[];
  readonly calls: readonly CallExpression[];
  readonly functions: readonly FunctionNode[];
  readonly returns: readonly ReturnStatement[];
  /** True if the program has `await`, `.then` or similar, or `new Promise`. */
  readonly waits: boolean;
  /** True if the program may store a promise and await it later: `.then`, `Promise.all`, `await` of a variable. */
  readonly keepsPromises: boolean;
  /** True if the program may leave promises pending: `Promise.race`, `Promise.any`. */
  readonly races: boolean;
  /** Names that refused imports would declare; they get no other violation. */
  readonly imported: ReadonlySet<string>;
}

/** The maximum number of private names of one program: the engine compares each with all others. */
const MAX_PRIVATE_NAMES = 2_000;

/** The functions of `Promise` that do not leave promises pending. */
const NOT_RACING: ReadonlySet<string> = new Set(["all", "allSettled", "resolve", "reject"]);

/** Checks every node against the allowlist, and refuses syntax that the engine parses differently from acorn. */
export function checkSyntax(context: CheckContext): SyntaxFacts {
  const { text } = context.program;
  const hasOtherLetters = /\P{ASCII}/u.test(text) || text.includes("\\u");
  const check: SyntaxCheck = {
    context,
    text,
    awaits: [],
    calls: [],
    functions: [],
    returns: [],
    waits: false,
    keepsPromises: false,
    races: false,
    imported: new Set(),
    privateNames: 0,
  };
  // All nodes except the program itself, in source order.
  for (const node of context.scopes.parents.keys()) {
    if (isFunction(node)) check.functions.push(node);
    if (isAllowed(node)) byType(CHECKS, node, node)?.(check);
    else refuseNode(node, check);
    if (hasOtherLetters) checkLetters(node, context);
  }
  return check;
}

interface SyntaxCheck extends SyntaxFacts {
  readonly context: CheckContext;
  readonly text: string;
  readonly awaits: Await[];
  readonly calls: CallExpression[];
  readonly functions: FunctionNode[];
  readonly returns: ReturnStatement[];
  waits: boolean;
  keepsPromises: boolean;
  races: boolean;
  readonly imported: Set<string>;
  privateNames: number;
}

/** Additional checks by node type. Most refuse syntax that acorn and QuickJS parse differently. */
const CHECKS: ByType<(check: SyntaxCheck) => void> = {
  ArrowFunctionExpression: (node) => (check) => {
    if (!isBareAsync(node.params[0], check.text)) return;
    refuse(check, node, "async as a parameter without parentheses", "Write (async) => …, or use another name");
  },
  AwaitExpression: (node) => (check) => {
    check.awaits.push(node);
    check.waits = true;
    if (node.argument.type !== "CallExpression") check.keepsPromises = true;
  },
  BinaryExpression: (node) => (check) => {
    if (node.operator === "<" && check.text.startsWith("<!--", node.right.start - 1)) {
      refuse(
        check,
        node,
        "<!--, which begins a comment in HTML",
        "Put spaces between the characters, or // for a comment",
      );
    } else if (node.operator === "/" && isMisreadBeforeSlash(node.left, check.text) && isChecked(node, check.context)) {
      refuse(check, node, "a division that looks like a regular expression", "Write its first operand in parentheses");
    }
  },
  CallExpression: (node) => (check) => {
    check.calls.push(node);
    const [reason] = node.arguments;
    if (reason !== undefined && isReject(node.callee, check.context)) markThrown(reason, check.context);
  },
  ForOfStatement: (node) => (check) => {
    if (!node.await) return;
    check.awaits.push(node);
    check.waits = check.keepsPromises = true;
  },
  Literal: (node) => (check) => {
    if (node.regex == null || !/[)}]\s*$/.test(check.text.slice(Math.max(0, node.start - 50), node.start))) return;
    if (!isChecked(node, check.context)) return;
    refuse(check, node, "a regular expression that looks like a division", "Assign it to a variable first");
  },
  MemberExpression: (node) => (check) => {
    const { object } = node;
    if (THEN.has(literalName(node.property, node.computed) ?? "")) check.waits = check.keepsPromises = true;
    if (object.type === "Identifier" && object.name === "Promise") {
      check.keepsPromises = true;
      if (!NOT_RACING.has(literalName(node.property, node.computed) ?? "")) check.races = true;
    }
    if (object.type !== "Literal" || !/^0[box][^n]*$/i.test(object.raw ?? "") || check.text[object.end] !== ".") return;
    refuse(check, node, "a number with a dot after it", `Write (${object.raw}) in parentheses`);
  },
  MetaProperty: (node) => (check) => {
    if (node.meta.name !== "import") return;
    const words = { values: "import.meta", fix: "Leave it out: a program is not a module" };
    check.context.report.refuse("MODULE_FORBIDDEN", node, () => words);
  },
  MethodDefinition: (node) => (check) => countPrivateName(node, check),
  NewExpression:
    ({ callee }) =>
    (check) => {
      if (isIdentifier(callee) && callee.name === "Promise") check.waits = check.keepsPromises = true;
      const first = findLeftmost(callee);
      // QuickJS calls B in `new new A().B()`; it does not with parentheses: `new (new A()).B()`.
      if (first.type === "NewExpression") check.context.report.wrap(first, "(", ")");
    },
  ThrowStatement: (node) => (check) => markThrown(node.argument, check.context),
  PropertyDefinition: (node) => (check) => {
    countPrivateName(node, check);
    if (node.computed || node.value != null || !isIdentifier(node.key) || node.key.name !== "async") return;
    refuse(check, node, "a field named async without a value", "Write async = undefined, or use another name");
  },
  ReturnStatement: (node) => (check) => void check.returns.push(node),
  ThisExpression:
    (node) =>
    ({ context }) => {
      const parent = getParent(node, context);
      const isDeleted = parent?.type === "UnaryExpression" && parent.operator === "delete";
      if (!isDeleted && !hasThis(node, context)) context.report.replace(node, "undefined");
    },
  VariableDeclaration: (node) => (check) => {
    if (node.kind.endsWith("using")) refuse(check, node, node.kind, "Write const, and try { … } finally { … }");
  },
};

/** The first expression of a chain of members, calls and template tags. */
function findLeftmost(expression: AnyNode): AnyNode {
  let at = expression;
  for (;;) {
    if (at.type === "MemberExpression") at = at.object;
    else if (at.type === "CallExpression") at = at.callee;
    else if (at.type === "TaggedTemplateExpression") at = at.tag;
    else return at;
  }
}

/** True if QuickJS, when it looks ahead, takes a slash after the node for the start of a regular expression. */
function isMisreadBeforeSlash({ end }: AnyNode, text: string): boolean {
  return MISREAD.test(text.slice(Math.max(0, end - 50), end)) && !/^\s*\)/.test(text.slice(end, end + 50));
}

const KEYWORDS = `break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|finally|for|function|if|
import|in|instanceof|new|return|super|switch|throw|try|typeof|var|void|while|with|yield|let|static|await|async|of`;
const MISREAD = new RegExp(`(?:\`|#[\\w$]+|(?<![\\w$])(?:${KEYWORDS.replace(/\s/g, "")}))$`);

/** True where QuickJS looks ahead, to distinguish a loop head or a pattern from an expression. */
function isChecked(node: AnyNode, context: CheckContext): boolean {
  let inside = node;
  for (const outer of iterateAncestors(node, context)) {
    if (outer.type === "AssignmentPattern" || outer.type === "ArrayPattern" || outer.type === "ObjectPattern")
      return true;
    if (outer.type.startsWith("For") && "body" in outer && outer.body !== inside) return true;
    if (isFunction(outer) && outer.params.includes(inside as never)) return true;
    inside = outer;
  }
  return false;
}

function refuse({ context }: SyntaxCheck, node: AnyNode, values: string, fix: string): void {
  context.report.refuse("NODE_FORBIDDEN", node, () => ({ values, fix }));
}

function countPrivateName(node: PropertyDefinition | MethodDefinition, check: SyntaxCheck): void {
  if (node.key.type !== "PrivateIdentifier" || ++check.privateNames !== MAX_PRIVATE_NAMES) return;
  const values = `more than ${MAX_PRIVATE_NAMES} private names`;
  check.context.report.refuse("SOURCE_LIMIT", node, () => ({ values }));
}

function isBareAsync(parameter: AnyNode | undefined, text: string): boolean {
  return (
    isIdentifier(parameter) &&
    parameter.name === "async" &&
    !/^\s*\)/.test(text.slice(parameter.end, parameter.end + 100))
  );
}

function refuseNode(node: AnyNode, { context, imported }: SyntaxCheck): void {
  const refusal = REFUSED_NODES[node.type];
  if (refusal === undefined) return context.report.refuse("NODE_FORBIDDEN", node, () => ({ values: node.type }));
  if (node.type === "ImportDeclaration") for (const { local } of node.specifiers) imported.add(local.name);
  const source = "source" in node ? getStringLiteral(node.source) : undefined;
  context.report.refuse(refusal.code, node, () => {
    const { fix } = refusal;
    if (source === undefined) return { values: node.type === "ImportExpression" ? "import(…)" : node.type, fix };
    return { fix, ...describeModule(source, context) };
  });
}

function getStringLiteral(node: AnyNode | null | undefined): string | undefined {
  return node?.type === "Literal" && typeof node.value === "string" ? node.value : undefined;
}

/** Refuses names with letters that are unknown to Node: the engine may not know them either. */
function checkLetters(node: AnyNode, { report }: CheckContext): void {
  const inside = ["property", "key", "label"].map((field): unknown => Reflect.get(node, field));
  for (const name of [node, ...inside].filter(isName)) {
    if (/^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u.test(name.name)) continue;
    const words = { values: `the name ${printableName(name.name)}`, fix: "Use letters of a common script" };
    report.refuse("CHARACTER_FORBIDDEN", name, () => words);
  }
}

function isName(value: unknown): value is Identifier | PrivateIdentifier {
  const type = typeof value === "object" && value !== null && "type" in value ? value.type : undefined;
  return type === "Identifier" || type === "PrivateIdentifier";
}

function isIdentifier(node: AnyNode | undefined): node is Identifier {
  return node?.type === "Identifier";
}

/** True inside a function or class. Elsewhere `this` is undefined, as in a module; the engine would define it. */
function hasThis(node: AnyNode, context: CheckContext): boolean {
  for (const outer of iterateAncestors(node, context)) {
    if (isFunction(outer)) {
      if (outer.type !== "ArrowFunctionExpression") return true;
    } else if (outer.type === "StaticBlock" || outer.type === "PropertyDefinition") return true;
  }
  return false;
}
