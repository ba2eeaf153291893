import type { AnyNode, CallExpression, Identifier, NewExpression } from "acorn";
import { GLOBALS } from "./allowlist.ts";
import { constructorOf, functionOf, type Inspection, isAsync, parentOf } from "./inspection.ts";
import { type MembersByName, membersByName } from "./members-by-name.ts";
import {
  ADDING,
  CHECKED,
  COMBINATORS,
  type Depth,
  DOUBT,
  EITHER,
  GIVEN,
  type Known,
  LISTING_CALLBACKS,
  type Need,
  REARRANGING,
  REDUCING,
  SEEKING,
  SOUGHT,
  type Steps,
  sumOf,
  THEN,
  UNUSED,
  USING_CALLBACKS,
  VALUE,
} from "./need.ts";
import { presenceOf } from "./presence.ts";
import { PLACES } from "./places.ts";
import { PLACES_INSIDE } from "./places-inside.ts";
import { hasPlainKeys, HOLDERS, needOfTarget } from "./targets.ts";
import { byType, type FunctionNode, isFunction, literalName } from "./walk.ts";
import { Way } from "./way.ts";

/** Deeper ones are in doubt. */
const DEEPEST = 4;

/** Follows a promise from an expression to all places that it reaches, and says what they need. */
export interface Flow {
  need(expression: AnyNode, depth: Depth): Need;
  /** The same for the results of a function, from an expression that stands for the function. */
  needOfFunction(func: AnyNode): Need;
  /** The same for the promises of an async function, and for what its calls give if it is none. */
  needOfCalls(func: FunctionNode): Need;
}

export function createFlow(inspection: Inspection, known: Known): Flow {
  const flow = new Follower(inspection, known);
  return {
    need: (expression, depth) => flow.need(expression, depth),
    needOfFunction: (func) => flow.needOfFunction(func, 0),
    needOfCalls: (func) => flow.needOfCalls(func, 0),
  };
}

/** Goes from an expression outwards, and through variables and functions; the tables say what each place needs. */
class Follower implements Steps {
  readonly inspection: Inspection;
  readonly known: Known;
  readonly #way = new Way();
  #members: MembersByName | undefined;

  constructor(inspection: Inspection, known: Known) {
    this.inspection = inspection;
    this.known = known;
  }

  need(expression: AnyNode, depth: Depth): Need {
    const parent = parentOf(expression, this.inspection);
    const place = parent && byType(depth === 0 ? PLACES : PLACES_INSIDE, parent, expression);
    if (parent === undefined || depth < 0 || depth > DEEPEST) return DOUBT;
    return place === undefined ? VALUE : this.#way.further(() => place(this, depth));
  }

  needOfName(identifier: AnyNode, depth: Depth): Need {
    const binding = this.inspection.scopes.bindingOf(identifier);
    if (binding === undefined) return DOUBT;
    return this.#way.once("uses", binding, depth, () => sumOf(binding.reads, (read) => this.need(read, depth)));
  }

  needOfResult(func: AnyNode, depth: Depth): Need {
    return this.#way.once("result", func, depth, () => this.#resultOf(func, depth));
  }

  /** What becomes of the results where a function itself is passed on, or called. */
  needOfFunction(func: AnyNode, depth: Depth): Need {
    const parent = parentOf(func, this.inspection);
    if (parent?.type === "CallExpression" && parent.callee === func) return this.#resultOfCall(parent, depth);
    if (parent?.type === "CallExpression" || parent?.type === "NewExpression")
      return this.#callback(func, parent, depth);
    if (parent?.type === "VariableDeclarator" && parent.init === func) return this.#calls(parent.id, depth);
    if (parent?.type === "AssignmentExpression" && parent.right === func) return this.#calls(parent.left, depth);
    if (parent === undefined || !("computed" in parent) || !("key" in parent)) return DOUBT;
    const name = literalName(parent.key, parent.computed);
    const isGetter = "kind" in parent && parent.kind === "get";
    return name === undefined ? DOUBT : this.needOfMembers(name, depth, isGetter ? "read" : "called");
  }

  needOfMembers(name: string, depth: Depth, how: "read" | "called"): Need {
    this.#members ??= membersByName(this.inspection);
    const members = this.#members.get(name) ?? [];
    if (members.length === 0) return DOUBT;
    return this.#way.once(how, name, depth, () =>
      sumOf(members, (member) => (how === "read" ? this.need(member, depth) : this.needOfFunction(member, depth))),
    );
  }

  needOfArgument(argument: AnyNode, call: CallExpression | NewExpression, depth: Depth): Need {
    const { callee } = call;
    if (call.type === "CallExpression" && this.known.isMethodCall(call)) return VALUE;
    if (callee.type === "MemberExpression") {
      const name = literalName(callee.property, callee.computed);
      if (name === undefined) return VALUE;
      const isOfGlobal = callee.object.type === "Identifier" && this.#isGlobal(callee.object);
      if (depth === 0 && !isOfGlobal && SEEKING.has(name)) return this.needOfComparison(argument);
      const isKey = depth === 0 && name === "set" && argument === call.arguments[0];
      const compared = isKey ? this.needOfComparison(argument) : UNUSED;
      return compared | this.#argumentOfMember(call, callee.object, name, depth);
    }
    if (callee.type === "Identifier" && this.#isGlobal(callee)) {
      if (callee.name === "Boolean" && depth === 0) return this.needOfTest(argument);
      if (call.type === "NewExpression" && callee.name === "Map") return this.#needOfMap(call, depth);
      return callee.name === "print" ? GIVEN : VALUE;
    }
    const func = this.#functionBehind(callee);
    return func === undefined ? DOUBT : this.#needOfParameter(func, call.arguments.indexOf(argument as never), depth);
  }

  needOfAdding(container: AnyNode, depth: Depth): Need {
    let [at, inside] = [container, depth + 1];
    for (let outer = byType(HOLDERS, at, at); outer !== undefined; outer = byType(HOLDERS, at, at))
      [at, inside] = [outer.node, inside + outer.levels];
    if (at.type === "Identifier") return this.needOfName(at, inside);
    const field = at.type === "MemberExpression" ? literalName(at.property, at.computed) : undefined;
    return field === undefined ? DOUBT : this.needOfMembers(field, inside, "read");
  }

  needOfElements(call: CallExpression, depth: Depth): Need {
    const [callback] = call.arguments;
    const func = callback && this.#functionBehind(callback);
    return func === undefined ? DOUBT : this.#needOfParameter(func, 0, depth);
  }

  needOfTest(tested: AnyNode): Need {
    const presence = presenceOf(tested, this.inspection);
    return presence === "made" ? VALUE : presence === "left" ? SOUGHT : CHECKED;
  }

  needOfComparison(compared: AnyNode): Need {
    return presenceOf(compared, this.inspection) === "made" ? VALUE : CHECKED;
  }

  #isGlobal(identifier: Identifier): boolean {
    return GLOBALS.has(identifier.name) && this.inspection.scopes.bindingOf(identifier) === undefined;
  }

  #resultOf(func: AnyNode, depth: Depth): Need {
    if (!isFunction(func)) return DOUBT;
    return (isAsync(func, this.inspection) || func.generator) && depth === 0 ? EITHER : this.needOfCalls(func, depth);
  }

  needOfCalls(func: FunctionNode, depth: Depth): Need {
    if (func.type === "FunctionDeclaration") return func.id === null ? DOUBT : this.#calls(func.id, depth);
    return this.needOfFunction(func, depth);
  }

  /** A list that an async function returns is there once that function is awaited. */
  #resultOfCall(call: AnyNode, depth: Depth): Need {
    const parent = parentOf(call, this.inspection);
    return this.need(depth > 0 && parent?.type === "AwaitExpression" ? parent : call, depth);
  }

  #callback(func: AnyNode, call: CallExpression | NewExpression, depth: Depth): Need {
    const { callee } = call;
    if (callee.type === "MemberExpression") {
      const name = literalName(callee.property, callee.computed) ?? "";
      if (LISTING_CALLBACKS.has(name)) return this.need(call, depth + 1);
      if (USING_CALLBACKS.has(name)) return VALUE;
      if (name === "forEach") return UNUSED;
      return THEN.has(name) ? EITHER : DOUBT;
    }
    if (callee.type === "Identifier" && this.#isGlobal(callee)) return UNUSED;
    const parameter = this.#functionBehind(callee)?.params[call.arguments.indexOf(func as never)];
    return parameter === undefined ? DOUBT : this.#calls(parameter, depth);
  }

  /** What the calls of a function need that a variable holds. */
  #calls(name: AnyNode, depth: Depth): Need {
    const binding = name.type === "Identifier" ? this.inspection.scopes.bindingOf(name) : undefined;
    if (binding === undefined) return DOUBT;
    return this.#way.once("calls", binding, depth, () =>
      sumOf(binding.reads, (read) => this.needOfFunction(read, depth)),
    );
  }

  #argumentOfMember(call: CallExpression | NewExpression, object: AnyNode, name: string, depth: Depth): Need {
    if (object.type !== "Identifier" || !this.#isGlobal(object)) {
      if (ADDING.has(name)) return this.needOfAdding(object, depth);
      if (REDUCING.has(name) && call.arguments.length === 2) return this.#needOfStart(call, depth);
      return THEN.has(name) ? EITHER : VALUE;
    }
    if (object.name === "console") return GIVEN;
    if (this.inspection.plainLists.has(call)) return VALUE;
    if (object.name === "Promise") {
      return depth === 0 || (depth === 1 && COMBINATORS.has(name)) ? EITHER : this.need(call, depth);
    }
    if (depth > 0 && object.name === "Object" && name === "hasOwn") return SOUGHT;
    if (depth > 0 && object.name === "Object" && name === "keys") return UNUSED;
    if (depth > 0 && name === "from" && call.arguments.length > 1) return this.#needOfItems(call, depth);
    const change = depth === 0 ? undefined : REARRANGING.get(`${object.name}.${name}`);
    return change === undefined ? VALUE : this.need(call, Math.max(1, depth + change));
  }

  /** `new Map([["a", promise]])`. In a set, and as a key, promises are not what their values would be. */
  #needOfMap(creation: NewExpression, depth: Depth): Need {
    const [pairs] = creation.arguments;
    if (depth < 2 || pairs === undefined || !hasPlainKeys(pairs)) return VALUE;
    return this.need(creation, depth - 1) === EITHER ? EITHER : VALUE;
  }

  /** `Array.from(list, callback)` */
  #needOfItems(call: CallExpression | NewExpression, depth: Depth): Need {
    const callback = call.arguments[1];
    const func = callback && this.#functionBehind(callback);
    return func === undefined ? DOUBT : this.#needOfParameter(func, 0, depth - 1);
  }

  /** What `reduce` starts with is handed to its callback, and given back for an empty list. */
  #needOfStart(call: CallExpression | NewExpression, depth: Depth): Need {
    const [callback] = call.arguments;
    const func = callback && this.#functionBehind(callback);
    return func === undefined ? DOUBT : this.#needOfParameter(func, 0, depth) | this.need(call, depth);
  }

  #needOfParameter({ params }: FunctionNode, index: number, depth: Depth): Need {
    const last = params.at(-1);
    const parameter = params[index] ?? last;
    if (parameter === undefined || index < 0) return DOUBT;
    if (parameter.type === "RestElement") return needOfTarget(parameter.argument, depth + 1, this);
    if (params[index] === undefined) return DOUBT;
    return needOfTarget(parameter.type === "AssignmentPattern" ? parameter.left : parameter, depth, this);
  }

  /** The function that an expression stands for, if it is one of the snippet; of a class, its constructor. */
  #functionBehind(callee: AnyNode): FunctionNode | undefined {
    if (isFunction(callee)) return callee;
    const binding = callee.type === "Identifier" ? this.inspection.scopes.bindingOf(callee) : undefined;
    return binding && (functionOf(binding, this.inspection) ?? constructorOf(binding, this.inspection));
  }
}
