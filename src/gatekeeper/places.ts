import type { AnyNode, BinaryExpression } from "acorn";
import { functionAround, isAsync, isInTry, mayAwait, parentOf } from "./inspection.ts";
import {
  AWAITED,
  COMPARING,
  type Depth,
  DOUBT,
  EITHER,
  GIVEN,
  type Need,
  PROMISE,
  type Steps,
  THEN,
  UNUSED,
  VALUE,
} from "./need.ts";
import { needOfAssignment, needOfField, needOfStatement, needOfTarget, needOfYield } from "./targets.ts";
import { type ByType, isFunction, literalName } from "./walk.ts";

/** What a promise needs at one place. */
export type Place = (steps: Steps, depth: Depth) => Need;

export const given: Place = () => GIVEN;
export const unused: Place = () => UNUSED;
export const value: Place = () => VALUE;

function tested(node: AnyNode): Place {
  return (steps) => steps.needOfTest(node);
}

/**
 * The table of places: what a promise meets there. Everywhere else (operators, conditions, templates, spread, loops, keys …)
 * the value itself is needed.
 */
export const PLACES: ByType<Place> = {
  ArrayExpression: (list) => (steps) => steps.need(list, 1),
  ArrowFunctionExpression: (arrow, node) => (steps) => (arrow.body === node ? steps.needOfResult(arrow, 0) : DOUBT),
  AssignmentExpression: (assignment, node) => (steps) => {
    const { left, operator } = assignment;
    const isPlain = operator === "=";
    const isLogical = /^(?:\|\||&&|\?\?)=$/.test(operator);
    if (left === node) return isLogical ? steps.needOfTest(left) : isPlain ? UNUSED : VALUE;
    if (steps.known.isKeyword(assignment) || !(isPlain || isLogical)) return VALUE;
    return needOfTarget(left, 0, steps) | needOfAssignment(assignment, 0, steps);
  },
  AssignmentPattern:
    ({ left, right }, node) =>
    (steps) =>
      right === node ? needOfTarget(left, 0, steps) : VALUE,
  AwaitExpression: (awaited) => (steps) => (mayAwait(awaited, steps.inspection) ? EITHER : VALUE),
  BinaryExpression: (operation, node) => (steps) => needOfOperand(operation, node, steps),
  CallExpression: (call, node) => (steps) => (call.callee === node ? VALUE : steps.needOfArgument(node, call, 0)),
  ChainExpression: (chain) => (steps) => steps.need(chain, 0),
  ConditionalExpression: (conditional, node) => (steps) =>
    conditional.test === node ? steps.needOfTest(node) : steps.need(conditional, 0),
  DoWhileStatement: (_loop, node) => tested(node),
  ExportDefaultDeclaration: () => given,
  ExpressionStatement: (statement) => (steps) => needOfStatement(statement, steps),
  ForStatement: ({ test }, node) => (test === node ? tested(node) : unused),
  IfStatement: (_statement, node) => tested(node),
  LogicalExpression: (logical, node) => (steps) => {
    const asked = logical.left === node ? steps.needOfTest(node) : UNUSED;
    return asked | (logical.left === node && logical.operator === "&&" ? UNUSED : steps.need(logical, 0));
  },
  MemberExpression:
    ({ property, computed, object }, node) =>
    () =>
      object === node && THEN.has(literalName(property, computed) ?? "") ? PROMISE : VALUE,
  NewExpression: (creation, node) => (steps) =>
    creation.callee === node ? VALUE : steps.needOfArgument(node, creation, 0),
  Property: (property, node) => (steps) => {
    const object = parentOf(property, steps.inspection);
    return property.value === node && object?.type === "ObjectExpression" ? steps.need(object, 1) : VALUE;
  },
  PropertyDefinition:
    ({ key, computed }) =>
    (steps) =>
      needOfField(key, computed, 0, steps),
  ReturnStatement: (statement) => (steps) => {
    const func = functionAround(statement, steps.inspection);
    const caught = isInTry(statement, steps.inspection) ? AWAITED : UNUSED;
    const returned =
      func !== undefined && isFunction(func) && !isAsync(func, steps.inspection) ? steps.needOfResult(func, 0) : GIVEN;
    return returned | caught;
  },
  SequenceExpression: (sequence, node) => (steps) =>
    sequence.expressions.at(-1) === node ? steps.need(sequence, 0) : UNUSED,
  UnaryExpression: (operation, node) => {
    const { operator } = operation;
    if (operator === "!") return tested(node);
    if (operator === "typeof")
      return (steps) => (isComparedWithUndefined(operation, steps) ? steps.needOfTest(node) : VALUE);
    return operator === "void" || operator === "delete" ? unused : value;
  },
  VariableDeclarator:
    ({ id }) =>
    (steps) =>
      id.type === "Identifier" ? steps.needOfName(id, 0) : VALUE,
  WhileStatement: (_loop, node) => tested(node),
  YieldExpression: (yielded) => (steps) => (yielded.delegate ? VALUE : needOfYield(yielded, 1, steps)),
};

/** `p === q`, `p === null`, `p instanceof Promise` */
function needOfOperand({ operator, left, right }: BinaryExpression, node: AnyNode, steps: Steps): Need {
  const other = left === node ? right : left;
  if (operator === "instanceof") return other.type === "Identifier" && other.name === "Promise" ? PROMISE : VALUE;
  if (!COMPARING.has(operator)) return VALUE;
  if (isNothing(other)) return steps.needOfTest(node);
  return CONSTANTS.has(other.type) ? VALUE : steps.needOfComparison(node);
}

/** No promise is one of these. */
const CONSTANTS: ReadonlySet<string> = new Set(["Literal", "TemplateLiteral", "UnaryExpression"]);

function isNothing(node: AnyNode): boolean {
  if (node.type === "Literal") return node.raw === "null";
  return (
    (node.type === "Identifier" && node.name === "undefined") ||
    (node.type === "UnaryExpression" && node.operator === "void")
  );
}

/** `typeof cache[key] === "undefined"` */
function isComparedWithUndefined(operation: AnyNode, steps: Steps): boolean {
  const parent = parentOf(operation, steps.inspection);
  if (parent?.type !== "BinaryExpression" || !COMPARING.has(parent.operator)) return false;
  return [parent.left, parent.right].some((side) => side.type === "Literal" && side.value === "undefined");
}
