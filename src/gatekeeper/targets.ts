import type { AnyNode, MemberExpression } from "acorn";
import { functionAround, isAsync, isInTry, parentOf } from "./inspection.ts";
import { type Depth, DOUBT, EITHER, GIVEN, type Need, type Steps, sumOf, TAKING, UNUSED, VALUE } from "./need.ts";
import { type ByType, isFunction, literalName } from "./walk.ts";

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
