import type { AnyNode, BinaryExpression, MemberExpression } from "acorn";
import {
  ADDING,
  AWAITED,
  CHECKED,
  COPYING,
  type Depth,
  DOUBT,
  EITHER,
  GIVEN,
  type Need,
  PROMISE,
  SOUGHT,
  type Steps,
  sumOf,
  TAKING,
  THEN,
  UNUSED,
  VALUE,
} from "./need.ts";
import { type ByType, isFunction, literalName } from "./walk.ts";

/** What a promise needs at one place. */
export type Place = (steps: Steps, depth: Depth) => Need;

const given: Place = () => GIVEN;
const unused: Place = () => UNUSED;
const value: Place = () => VALUE;

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
    if (steps.isKeyword(assignment) || !(isPlain || isLogical)) return VALUE;
    return needOfTarget(left, 0, steps) | needOfAssignment(assignment, 0, steps);
  },
  AssignmentPattern:
    ({ left, right }, node) =>
    (steps) =>
      right === node ? needOfTarget(left, 0, steps) : VALUE,
  AwaitExpression: (awaited) => (steps) => (steps.mayAwait(awaited) ? EITHER : VALUE),
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
    const object = steps.parent(property);
    return property.value === node && object?.type === "ObjectExpression" ? steps.need(object, 1) : VALUE;
  },
  PropertyDefinition:
    ({ key, computed }) =>
    (steps) =>
      needOfField(key, computed, 0, steps),
  ReturnStatement: (statement) => (steps) => {
    const func = steps.functionAround(statement);
    const caught = steps.isInTry(statement) ? AWAITED : UNUSED;
    const returned =
      func !== undefined && isFunction(func) && !steps.isAsync(func) ? steps.needOfResult(func, 0) : GIVEN;
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

/** The same for a list or object that has promises inside. */
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
    const object = steps.parent(property);
    return object?.type === "ObjectExpression" ? steps.need(object, depth + 1) : VALUE;
  },
  PropertyDefinition:
    ({ key, computed }) =>
    (steps, depth) =>
      needOfField(key, computed, depth, steps),
  ReturnStatement: (statement) => (steps, depth) => {
    const func = steps.functionAround(statement);
    const caught = steps.isInTry(statement) ? AWAITED : UNUSED;
    return (func === undefined ? GIVEN : steps.needOfResult(func, depth)) | caught;
  },
  SequenceExpression: (sequence) => (steps, depth) => steps.need(sequence, depth),
  SpreadElement: (spread) => (steps, depth) => {
    const outer = steps.parent(spread);
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

/** What a list or object is in, and how many levels out: `lists[key]`, `lists.get(key)`, `(lists[key] ??= [])`. */
export const HOLDERS: ByType<{ readonly node: AnyNode; readonly levels: number } | undefined> = {
  AssignmentExpression: ({ left }) => ({ node: left, levels: 0 }),
  CallExpression: ({ callee }) =>
    callee.type === "MemberExpression" && TAKING.has(literalName(callee.property, callee.computed) ?? "")
      ? { node: callee.object, levels: 1 }
      : undefined,
  ChainExpression: ({ expression }) => ({ node: expression, levels: 0 }),
  LogicalExpression: ({ left }) => ({ node: left, levels: 0 }),
  MemberExpression: ({ object }) => (object.type === "ThisExpression" ? undefined : { node: object, levels: 1 }),
};

/** What the variable needs that is assigned to. A list or object that is taken apart gives its parts. */
export function needOfTarget(target: AnyNode, depth: Depth, steps: Steps): Need {
  if (target.type === "Identifier") return steps.needOfName(target, depth);
  if (target.type === "MemberExpression") return needOfSlot(target, depth, steps);
  if (target.type === "AssignmentPattern" || depth === 0) return VALUE;
  if (target.type === "ArrayPattern") {
    return sumOf(target.elements, (element) =>
      element?.type === "RestElement"
        ? needOfTarget(element.argument, depth, steps)
        : element && needOfTarget(element, depth - 1, steps),
    );
  }
  if (target.type !== "ObjectPattern") return DOUBT;
  return sumOf(target.properties, (property) =>
    property.type === "Property"
      ? needOfTarget(property.value, depth - 1, steps)
      : needOfTarget(property.argument, depth, steps),
  );
}

/** What is set on `this` is read by its name, from whatever holds the object. */
function needOfSlot({ object, property, computed }: MemberExpression, depth: Depth, steps: Steps): Need {
  return object.type === "ThisExpression"
    ? needOfField(property, computed, depth, steps)
    : steps.needOfAdding(object, depth);
}

/** `p === q`, `p === null`, `p instanceof Promise` */
function needOfOperand({ operator, left, right }: BinaryExpression, node: AnyNode, steps: Steps): Need {
  const other = left === node ? right : left;
  if (operator === "instanceof") return other.type === "Identifier" && other.name === "Promise" ? PROMISE : VALUE;
  if (!COMPARING.has(operator)) return VALUE;
  if (isNothing(other)) return steps.needOfTest(node);
  return CONSTANTS.has(other.type) ? VALUE : steps.needOfComparison(node);
}

const COMPARING: ReadonlySet<string> = new Set(["===", "!==", "==", "!="]);

/** No promise is one of these. */
const CONSTANTS: ReadonlySet<string> = new Set(["Literal", "TemplateLiteral", "UnaryExpression"]);

function isNothing(node: AnyNode): boolean {
  if (node.type === "Literal") return node.raw === "null";
  return (
    (node.type === "Identifier" && node.name === "undefined") ||
    (node.type === "UnaryExpression" && node.operator === "void")
  );
}

/** These compare what is inside with an argument. */
const FINDING: ReadonlySet<string> = new Set(["includes", "indexOf", "lastIndexOf"]);

/** `typeof cache[key] === "undefined"` */
function isComparedWithUndefined(operation: AnyNode, steps: Steps): boolean {
  const parent = steps.parent(operation);
  if (parent?.type !== "BinaryExpression" || !COMPARING.has(parent.operator)) return false;
  return [parent.left, parent.right].some((side) => side.type === "Literal" && side.value === "undefined");
}

/** A result inside of `try` is awaited there as a whole. */
function needOfStatement(statement: AnyNode, steps: Steps): Need {
  if (!steps.isResult(statement)) return UNUSED;
  return steps.isInTry(statement) ? EITHER : GIVEN;
}

/** A field is read by its name, from whatever holds the object. */
function needOfField(key: AnyNode, computed: boolean, depth: Depth, steps: Steps): Need {
  const name = literalName(key, computed);
  return name === undefined ? DOUBT : steps.needOfMembers(name, depth, "read");
}

/** What a generator yields is what its calls hold. */
function needOfYield(yielded: AnyNode, depth: Depth, steps: Steps): Need {
  const generator = steps.functionAround(yielded);
  const awaits = generator === undefined || !isFunction(generator) || steps.isAsync(generator);
  return awaits ? EITHER : steps.needOfResult(generator, depth);
}

/** An assignment has a value too. */
function needOfAssignment(assignment: AnyNode, depth: Depth, steps: Steps): Need {
  const parent = steps.parent(assignment);
  return parent?.type === "ExpressionStatement" ? UNUSED : steps.need(assignment, depth);
}

/** `list.push`, `list[0]`, `list.map(…)`, `object.key` */
function needOfMember(member: MemberExpression, depth: Depth, steps: Steps): Need {
  const name = literalName(member.property, member.computed);
  const call = steps.parent(member);
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
