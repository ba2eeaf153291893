import type { MemberExpression } from "acorn";
import { functionAround, isInTry, parentOf } from "./inspection.ts";
import {
  AWAITED,
  CHECKED,
  COMPARING,
  COPYING,
  type Depth,
  DOUBT,
  EITHER,
  GIVEN,
  type Need,
  SOUGHT,
  type Steps,
  TAKING,
  ADDING,
  UNUSED,
  VALUE,
} from "./need.ts";
import { given, type Place, unused, value } from "./places.ts";
import { needOfAssignment, needOfField, needOfStatement, needOfTarget, needOfYield } from "./targets.ts";
import { type ByType, literalName } from "./walk.ts";

/** The table of places for a list or object that has promises inside. */
export const PLACES_INSIDE: ByType<Place> = {
  ArrayExpression: (list) => (steps, depth) => steps.need(list, depth + 1),
  ArrowFunctionExpression: (arrow, node) => (steps, depth) =>
    arrow.body === node ? steps.needOfResult(arrow, depth) : DOUBT,
  AssignmentExpression: (assignment, node) => (steps, depth) => {
    if (assignment.left === node) return UNUSED;
    return needOfTarget(assignment.left, depth, steps) | needOfAssignment(assignment, depth, steps);
  },
  AssignmentPattern:
    ({ left, right }, node) =>
    (steps, depth) =>
      right === node ? needOfTarget(left, depth, steps) : VALUE,
  AwaitExpression: (awaited) => (steps, depth) => steps.need(awaited, depth),
  BinaryExpression: ({ operator }) => {
    if (operator === "in") return () => SOUGHT;
    return COMPARING.has(operator) ? unused : value;
  },
  CallExpression: (call, node) => (steps, depth) =>
    call.callee === node ? VALUE : steps.needOfArgument(node, call, depth),
  ChainExpression: (chain) => (steps, depth) => steps.need(chain, depth),
  ConditionalExpression: (conditional, node) => (steps, depth) =>
    conditional.test === node ? UNUSED : steps.need(conditional, depth),
  ExportDefaultDeclaration: () => given,
  ExpressionStatement: (statement) => (steps) => needOfStatement(statement, steps),
  ForInStatement: () => unused,
  ForOfStatement:
    ({ left, await: awaits, right }, node) =>
    (steps, depth) => {
      if (awaits || right !== node) return awaits ? EITHER : DOUBT;
      const name = left.type === "VariableDeclaration" ? left.declarations[0]?.id : left;
      return name === undefined ? VALUE : needOfTarget(name, depth - 1, steps);
    },
  IfStatement: () => unused,
  LogicalExpression: (logical, node) => (steps, depth) =>
    logical.left === node && logical.operator === "&&" ? UNUSED : steps.need(logical, depth),
  MemberExpression: (member, node) => (steps, depth) =>
    member.object === node ? needOfMember(member, depth, steps) : VALUE,
  NewExpression: (creation, node) => (steps, depth) => steps.needOfArgument(node, creation, depth),
  Property: (property) => (steps, depth) => {
    const object = parentOf(property, steps.inspection);
    return object?.type === "ObjectExpression" ? steps.need(object, depth + 1) : VALUE;
  },
  PropertyDefinition:
    ({ key, computed }) =>
    (steps, depth) =>
      needOfField(key, computed, depth, steps),
  ReturnStatement: (statement) => (steps, depth) => {
    const func = functionAround(statement, steps.inspection);
    const caught = isInTry(statement, steps.inspection) ? AWAITED : UNUSED;
    return (func === undefined ? GIVEN : steps.needOfResult(func, depth)) | caught;
  },
  SequenceExpression: (sequence) => (steps, depth) => steps.need(sequence, depth),
  SpreadElement: (spread) => (steps, depth) => {
    const outer = parentOf(spread, steps.inspection);
    if (outer?.type === "ArrayExpression" || outer?.type === "ObjectExpression") return steps.need(outer, depth);
    return outer?.type === "CallExpression" ? steps.needOfArgument(spread, outer, depth - 1) : VALUE;
  },
  UnaryExpression: () => unused,
  VariableDeclarator:
    ({ id }) =>
    (steps, depth) =>
      needOfTarget(id, depth, steps),
  YieldExpression: (yielded) => (steps, depth) => needOfYield(yielded, depth + (yielded.delegate ? 0 : 1), steps),
};

/** `list.push`, `list[0]`, `list.map(…)`, `object.key` */
function needOfMember(member: MemberExpression, depth: Depth, steps: Steps): Need {
  const name = literalName(member.property, member.computed);
  const call = parentOf(member, steps.inspection);
  if (call?.type !== "CallExpression" || call.callee !== member) {
    if (name === "length" || name === "size") return UNUSED;
    return call?.type === "AssignmentExpression" && call.left === member ? UNUSED : steps.need(member, depth - 1);
  }
  if (name === undefined) return VALUE;
  if (name === "has" || name === "hasOwnProperty") return SOUGHT;
  if (name === "keys") return UNUSED;
  if (ADDING.has(name) || name === "clear" || name === "delete") return UNUSED;
  if (FINDING.has(name)) return CHECKED;
  if (TAKING.has(name)) return steps.need(call, depth - 1);
  if (COPYING.has(name)) return steps.need(call, depth);
  return name === "map" || name === "forEach" ? steps.needOfElements(call, depth - 1) : VALUE;
}

/** These compare what is inside with an argument. */
const FINDING: ReadonlySet<string> = new Set(["includes", "indexOf", "lastIndexOf"]);
