import type { AnyNode, MemberExpression } from "acorn";
import { functionAround, type Inspection, isAsync, isInTry, parentOf } from "./inspection.ts";
import {
  type Depth,
  DOUBT,
  EITHER,
  GIVEN,
  type Need,
  REDUCING,
  type Steps,
  sumOf,
  TAKING,
  UNUSED,
  VALUE,
} from "./need.ts";
import { type ByType, isFunction, literalName } from "./walk.ts";

/** What the variable needs that is assigned to. A list or object that is taken apart gives its parts. */
export function needOfTarget(target: AnyNode, depth: Depth, steps: Steps): Need {
  if (target.type === "Identifier") return steps.needOfName(target, depth);
  if (target.type === "MemberExpression") return needOfSlot(target, depth, steps);
  if (target.type === "AssignmentPattern" || depth === 0) return VALUE;
  if (target.type === "ArrayPattern") {
    const elements = isPairOfEntries(target, steps.inspection) ? target.elements.slice(1) : target.elements;
    return sumOf(elements, (element) =>
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

/** `for (const [key, value] of Object.entries(…))`, `Object.entries(…).map(([key, value]) => …)`: a key is a text. */
function isPairOfEntries(pattern: AnyNode, inspection: Inspection): boolean {
  const holder = parentOf(pattern, inspection);
  if (holder?.type === "VariableDeclarator") {
    const declaration = parentOf(holder, inspection);
    const loop = declaration && parentOf(declaration, inspection);
    return loop?.type === "ForOfStatement" && loop.left === declaration && isEntries(loop.right);
  }
  if (holder === undefined || !isFunction(holder) || holder.params[0] !== pattern) return false;
  const call = parentOf(holder, inspection);
  if (call?.type !== "CallExpression" || call.arguments[0] !== holder) return false;
  return call.callee.type === "MemberExpression" && isEntries(call.callee.object) && !isReduce(call.callee);
}

/** True for pairs whose keys are certainly no promises. */
export function hasPlainKeys(pairs: AnyNode): boolean {
  if (pairs.type !== "ArrayExpression") return isEntries(pairs);
  return pairs.elements.every((pair) => pair?.type === "ArrayExpression" && pair.elements[0]?.type === "Literal");
}

function isEntries(node: AnyNode): boolean {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const { object, property, computed } = node.callee;
  return object.type === "Identifier" && object.name === "Object" && literalName(property, computed) === "entries";
}

function isReduce({ property, computed }: MemberExpression): boolean {
  return REDUCING.has(literalName(property, computed) ?? "");
}

/** What is set on `this` is read by its name, from whatever holds the object. */
function needOfSlot({ object, property, computed }: MemberExpression, depth: Depth, steps: Steps): Need {
  return object.type === "ThisExpression"
    ? needOfField(property, computed, depth, steps)
    : steps.needOfAdding(object, depth);
}

/** A field is read by its name, from whatever holds the object. */
export function needOfField(key: AnyNode, computed: boolean, depth: Depth, steps: Steps): Need {
  const name = literalName(key, computed);
  return name === undefined ? DOUBT : steps.needOfMembers(name, depth, "read");
}

/** An assignment has a value too. */
export function needOfAssignment(assignment: AnyNode, depth: Depth, steps: Steps): Need {
  const parent = parentOf(assignment, steps.inspection);
  return parent?.type === "ExpressionStatement" ? UNUSED : steps.need(assignment, depth);
}

/** What a generator yields is what its calls hold. */
export function needOfYield(yielded: AnyNode, depth: Depth, steps: Steps): Need {
  const generator = functionAround(yielded, steps.inspection);
  const awaits = generator === undefined || !isFunction(generator) || isAsync(generator, steps.inspection);
  return awaits ? EITHER : steps.needOfResult(generator, depth);
}

/** A result inside of `try` is awaited there as a whole. */
export function needOfStatement(statement: AnyNode, steps: Steps): Need {
  if (!steps.known.isResult(statement)) return UNUSED;
  return isInTry(statement, steps.inspection) ? EITHER : GIVEN;
}

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
