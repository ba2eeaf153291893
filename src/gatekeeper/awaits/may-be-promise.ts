import type { AnyNode } from "acorn";
import { type Inspection, parentOf } from "../inspection.ts";
import type { Binding } from "../scopes.ts";
import { byType, type ByType, literalName } from "../walk.ts";

const known = new WeakMap<Binding, boolean>();

/** False for what is certainly no promise. Only names and what they are set to are looked at. */
export function mayBePromise(node: AnyNode, inspection: Inspection): boolean {
  return byType(MAYBE, node, node)?.(inspection) ?? false;
}

const NUMBERS: ReadonlySet<string> = new Set(["length", "size"]);
const PLAIN: ReadonlySet<string> = new Set(
  "Array BigInt Boolean Date Error JSON Map Math Number Object RegExp Set String Symbol URL console isFinite isNaN parseFloat parseInt print".split(
    " ",
  ),
);

const MAYBE: ByType<(inspection: Inspection) => boolean> = {
  AssignmentExpression:
    ({ operator, right }) =>
    (inspection) =>
      (operator === "=" || /^(?:\|\||&&|\?\?)=$/.test(operator)) && mayBePromise(right, inspection),
  CallExpression:
    ({ callee }) =>
    ({ scopes }) => {
      const root = callee.type === "MemberExpression" ? callee.object : callee;
      return !(root.type === "Identifier" && PLAIN.has(root.name) && scopes.bindingOf(root) === undefined);
    },
  ChainExpression:
    ({ expression }) =>
    (inspection) =>
      mayBePromise(expression, inspection),
  ConditionalExpression:
    ({ consequent, alternate }) =>
    (inspection) =>
      mayBePromise(consequent, inspection) || mayBePromise(alternate, inspection),
  Identifier: (identifier) => (inspection) => {
    const binding = inspection.scopes.bindingOf(identifier);
    return binding !== undefined && nameMayBe(binding, inspection);
  },
  LogicalExpression:
    ({ left, right }) =>
    (inspection) =>
      mayBePromise(left, inspection) || mayBePromise(right, inspection),
  MemberExpression:
    ({ property, computed }) =>
    () =>
      !NUMBERS.has(literalName(property, computed) ?? ""),
  NewExpression:
    ({ callee }) =>
    () =>
      callee.type === "Identifier" && callee.name === "Promise",
  SequenceExpression:
    ({ expressions }) =>
    (inspection) =>
      expressions.some((each) => mayBePromise(each, inspection)),
  TaggedTemplateExpression: () => () => true,
  YieldExpression: () => () => true,
};

function nameMayBe(binding: Binding, inspection: Inspection): boolean {
  const before = known.get(binding);
  if (before !== undefined) return before;
  known.set(binding, false);
  const may = [...binding.declared, ...binding.writes].some((name) => {
    const holder = parentOf(name, inspection);
    if (holder === undefined) return true;
    if (holder.type === "VariableDeclarator" && holder.id === name) {
      if (holder.init != null) return mayBePromise(holder.init, inspection);
      const loop = parentOf(parentOf(holder, inspection) as AnyNode, inspection);
      return loop?.type === "ForOfStatement";
    }
    if (holder.type === "AssignmentExpression" && holder.left === name)
      return /^(?:|\|\||&&|\?\?)=$/.test(holder.operator) && mayBePromise(holder.right, inspection);
    if (holder.type === "FunctionDeclaration" || holder.type === "ClassDeclaration")
      return "params" in holder && holder.params.includes(name);
    return holder.type !== "UpdateExpression" && holder.type !== "CatchClause";
  });
  known.set(binding, may);
  return may;
}
