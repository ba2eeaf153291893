import type { AnyNode, AwaitExpression, ExpressionStatement, ForOfStatement, Identifier } from "acorn";
import { shown } from "../model/frame.ts";
import { NODES, REFUSED_NODES } from "./allowlist.ts";
import { wordsForModule } from "./globals.ts";
import type { Inspection } from "./inspection.ts";
import { byType, type ByType, isFunction, walk } from "./walk.ts";

/** What the other steps need to know of the syntax. */
export interface SyntaxFacts {
  readonly awaits: readonly AwaitExpression[];
  /** Statements that only call something. */
  readonly callStatements: readonly ExpressionStatement[];
  /** Names that refused imports would have declared: about these, nothing else is said. */
  readonly imported: ReadonlySet<string>;
}

/** The most private names of one snippet: the engine compares each with all others. */
const MOST_PRIVATE_NAMES = 2_000;

/** Holds every node against the allowlist, and refuses what the engine reads differently from the parser. */
export function checkSyntax(inspection: Inspection): SyntaxFacts {
  const { snippet, report } = inspection;
  const awaits: AwaitExpression[] = [];
  const callStatements: ExpressionStatement[] = [];
  const imported = new Set<string>();
  const plain = !/\P{ASCII}/u.test(snippet.text) && !snippet.text.includes("\\u");
  let privateNames = 0;
  walk(snippet.tree, {
    enter: (node) => {
      if (!Object.hasOwn(NODES, node.type)) refuseNode(node, inspection, imported);
      else if (node.type === "AwaitExpression") awaits.push(node);
      else if (node.type === "ExpressionStatement" && node.expression.type === "CallExpression")
        callStatements.push(node);
      else if (node.type === "ForOfStatement") checkForAwait(node, inspection);
      else if (!plain && (node.type === "Identifier" || node.type === "MemberExpression" || node.type === "Property"))
        checkLetters(node, inspection);
      const difference = byType(DIFFERENCES, node, node)?.(snippet.text);
      if (difference !== undefined) report.refuse("NODE_FORBIDDEN", node, () => difference);
      if (node.type === "ThisExpression" && !hasThis(node, inspection)) report.replace(node, "undefined");
      if ("key" in node && node.key.type === "PrivateIdentifier" && ++privateNames === MOST_PRIVATE_NAMES) {
        report.refuse("SOURCE_LIMIT", node, () => ({ values: `more than ${MOST_PRIVATE_NAMES} private names` }));
      }
      return undefined;
    },
  });
  return { awaits, callStatements, imported };
}

/** True in async functions and at the top. */
export function mayAwait(node: AnyNode, { scopes }: Inspection): boolean {
  let inside = node;
  for (let at = scopes.parents.get(node); at !== undefined; at = scopes.parents.get(at)) {
    if (isFunction(at)) return at.async && !at.params.includes(inside as never);
    if (at.type === "StaticBlock" || (at.type === "PropertyDefinition" && at.value === inside)) return false;
    inside = at;
  }
  return true;
}

interface Difference {
  readonly values: string;
  readonly fix: string;
}

/** What acorn takes and QuickJS reads in another way, or not at all. */
const DIFFERENCES: ByType<(text: string) => Difference | undefined> = {
  ArrowFunctionExpression:
    ({ params }) =>
    (text) => {
      const [first] = params;
      if (
        first?.type !== "Identifier" ||
        first.name !== "async" ||
        /^\s*\)/.test(text.slice(first.end, first.end + 100))
      )
        return undefined;
      return { values: "async as a parameter without brackets", fix: "Write (async) => …, or use another name" };
    },
  BinaryExpression:
    ({ operator, right }) =>
    (text) =>
      operator === "<" && text.startsWith("<!--", right.start - 1)
        ? { values: "<!--, which begins a comment in HTML", fix: "Write spaces between the signs, or // for a comment" }
        : undefined,
  MemberExpression:
    ({ object }) =>
    (text) =>
      object.type === "Literal" &&
      /^0[box]/i.test(object.raw ?? "") &&
      !(object.raw ?? "").endsWith("n") &&
      text[object.end] === "."
        ? { values: "a number with a dot after it", fix: `Write (${object.raw}) in brackets` }
        : undefined,
  MetaProperty:
    ({ meta }) =>
    () =>
      meta.name === "import" ? { values: "import.meta", fix: "Leave it out: a snippet is no module" } : undefined,
  PropertyDefinition:
    ({ key, computed, value }) =>
    () =>
      key.type === "Identifier" && key.name === "async" && !computed && value == null
        ? { values: "a field named async without a value", fix: "Write async = undefined, or use another name" }
        : undefined,
  VariableDeclaration:
    ({ kind }) =>
    () =>
      kind === "using" || kind === "await using"
        ? { values: kind, fix: "Write const, and try { … } finally { … }" }
        : undefined,
};

function refuseNode(node: AnyNode, inspection: Inspection, imported: Set<string>): void {
  const refusal = REFUSED_NODES[node.type];
  if (refusal === undefined) return inspection.report.refuse("NODE_FORBIDDEN", node, () => ({ values: node.type }));
  if (node.type === "ImportDeclaration") for (const { local } of node.specifiers) imported.add(local.name);
  const source =
    "source" in node && node.source?.type === "Literal" && typeof node.source.value === "string"
      ? node.source.value
      : undefined;
  inspection.report.refuse(refusal.code, node, () => {
    const { fix } = refusal;
    if (source === undefined) return { values: node.type === "ImportExpression" ? "import(…)" : node.type, fix };
    return { fix, ...wordsForModule(source, inspection) };
  });
}

function checkForAwait(node: ForOfStatement, inspection: Inspection): void {
  if (!node.await || mayAwait(node, inspection)) return;
  const fix = "Write async before the parameters of the function";
  inspection.report.refuse("SYNTAX", node, () => ({ values: "for await in a function that is not async", fix }));
}

/** Letters that this host does not know, the engine may not know either. */
function checkLetters(node: AnyNode, { report }: Inspection): void {
  const names = [node, "property" in node ? node.property : undefined, "key" in node ? node.key : undefined].filter(
    isIdentifier,
  );
  for (const { name, start, end } of names) {
    if (/^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u.test(name)) continue;
    report.refuse("CHARACTER_FORBIDDEN", { start, end }, () => ({
      values: `the name ${shown(name)}`,
      fix: "Use letters of a common script",
    }));
  }
}

function isIdentifier(node: AnyNode | undefined): node is Identifier {
  return node?.type === "Identifier";
}

/** Outside of functions and classes there is no `this`, as in a module; in the engine there would be one. */
function hasThis(node: AnyNode, { scopes }: Inspection): boolean {
  for (let at = scopes.parents.get(node); at !== undefined; at = scopes.parents.get(at)) {
    if (
      isFunction(at)
        ? at.type !== "ArrowFunctionExpression"
        : at.type === "StaticBlock" || at.type === "PropertyDefinition"
    )
      return true;
  }
  return false;
}
