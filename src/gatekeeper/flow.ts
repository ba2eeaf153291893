import type { AnyNode, CallExpression, Identifier, NewExpression } from "acorn";
import { GLOBALS } from "./allowlist.ts";
import type { Inspection } from "./inspection.ts";
import {
  ADDING,
  COMBINATORS,
  type Depth,
  EITHER,
  LISTING_CALLBACKS,
  type Need,
  REARRANGING,
  type Steps,
  THEN,
  UNUSED,
  USING_CALLBACKS,
  VALUE,
} from "./need.ts";
import { PLACES, PLACES_INSIDE } from "./places.ts";
import type { Binding } from "./scopes.ts";
import { byType, collect, isFunction, literalName, walk } from "./walk.ts";

/** Deeper ones are in doubt, and so are longer ways. */
const DEEPEST = 4;
const LONGEST_WAY = 150;

/** Follows a promise from an expression to all places that it reaches, and says what they need. */
export interface Flow {
  needOf(expression: AnyNode): Need;
  /** The same for the results of a function, from an expression that stands for the function. */
  needOfFunction(func: AnyNode): Need;
}

/** What other steps have found out. */
export interface Known {
  /** Calls of methods of `device`. */
  readonly isMethodCall: (call: AnyNode) => boolean;
  /** Arguments that are written `name=value`. */
  readonly isKeyword: (node: AnyNode) => boolean;
  /** Statements whose value is the result of the snippet. */
  readonly isResult: (statement: AnyNode) => boolean;
}

export function createFlow(inspection: Inspection, known: Known): Flow {
  const flow = new Follower(inspection, known);
  return { needOf: (expression) => flow.need(expression, 0), needOfFunction: (func) => flow.needOfFunction(func, 0) };
}

/** Goes from an expression outwards, and through variables and functions; the tables say what each place needs. */
class Follower implements Steps {
  readonly #inspection: Inspection;
  readonly #known: Known;
  /** What is known of variables and functions, and of those that are being looked at. */
  readonly #needs: readonly Map<Binding | AnyNode | string, Need>[] = Array.from(
    { length: DEEPEST + 1 },
    () => new Map(),
  );
  #way = 0;
  #members: ReadonlyMap<string, readonly AnyNode[]> | undefined;

  constructor(inspection: Inspection, known: Known) {
    this.#inspection = inspection;
    this.#known = known;
  }

  need(expression: AnyNode, depth: Depth): Need {
    const parent = this.parent(expression);
    if (parent === undefined || depth > DEEPEST || this.#way > LONGEST_WAY) return EITHER;
    const place = byType(depth === 0 ? PLACES : PLACES_INSIDE, parent, expression);
    if (place === undefined) return VALUE;
    this.#way++;
    const need = place(this, depth);
    this.#way--;
    return need;
  }

  parent(node: AnyNode): AnyNode | undefined {
    return this.#inspection.scopes.parents.get(node);
  }

  /** What all uses of a variable need. Variables that lead to each other add nothing. */
  needOfName(identifier: AnyNode, depth: Depth): Need {
    const binding = this.#inspection.scopes.bindingOf(identifier);
    return binding === undefined ? EITHER : this.needOfBinding(binding, depth);
  }

  needOfBinding(binding: Binding, depth: Depth): Need {
    return this.#once(binding, depth, () =>
      binding.reads.reduce((need, read) => need | this.need(read, depth), UNUSED),
    );
  }

  needOfResult(func: AnyNode, depth: Depth): Need {
    return this.#once(func, depth, () => this.#resultOf(func, depth));
  }

  /** What becomes of the results where a function itself is passed on, or called. */
  needOfFunction(func: AnyNode, depth: Depth): Need {
    const parent = this.parent(func);
    if (parent === undefined) return EITHER;
    if (parent.type === "CallExpression" && parent.callee === func) return this.needOfCall(parent, depth);
    if (parent.type === "CallExpression" || parent.type === "NewExpression") return this.#callback(func, parent, depth);
    if (parent.type === "VariableDeclarator" && parent.init === func) return this.#calls(parent.id, depth);
    if (parent.type === "AssignmentExpression" && parent.right === func) return this.#calls(parent.left, depth);
    if (parent.type === "Property" || parent.type === "MethodDefinition" || parent.type === "PropertyDefinition") {
      const name = literalName(parent.key, parent.computed);
      const isGetter = "kind" in parent && parent.kind === "get";
      return name === undefined ? EITHER : this.needOfMembers(name, depth, isGetter ? "read" : "called");
    }
    return EITHER;
  }

  /** What the whole program needs of the members of a name, whatever they are members of. */
  needOfMembers(name: string, depth: Depth, how: "read" | "called"): Need {
    const members = this.#membersNamed(name);
    if (members.length === 0) return EITHER;
    const needOf = (member: AnyNode): Need =>
      how === "read" ? this.need(member, depth) : this.needOfFunction(member, depth);
    return this.#once(`${how} ${name}`, depth, () => members.reduce((need, member) => need | needOf(member), UNUSED));
  }

  /** A list that an async function returns is there once that function is awaited. */
  needOfCall(call: AnyNode, depth: Depth): Need {
    const parent = this.parent(call);
    return this.need(depth > 0 && parent?.type === "AwaitExpression" ? parent : call, depth);
  }

  needOfArgument(argument: AnyNode, call: CallExpression | NewExpression, depth: Depth): Need {
    const { callee } = call;
    if (call.type === "CallExpression" && this.#known.isMethodCall(call)) return VALUE;
    if (callee.type === "MemberExpression")
      return this.#argumentOfMember(call, callee.object, literalName(callee.property, callee.computed), depth);
    if (callee.type !== "Identifier") return EITHER;
    if (callee.name === "print" && this.isGlobal(callee)) return EITHER;
    if (this.isGlobal(callee)) return VALUE;
    return this.#needOfParameter(callee, call.arguments.indexOf(argument as never), depth);
  }

  /** What is put into a list or object at this depth. */
  needOfAdding(container: AnyNode, depth: Depth): Need {
    return container.type === "Identifier" ? this.needOfName(container, depth + 1) : EITHER;
  }

  isGlobal(identifier: Identifier): boolean {
    return GLOBALS.has(identifier.name) && this.#inspection.scopes.bindingOf(identifier) === undefined;
  }

  isKeyword(node: AnyNode): boolean {
    return this.#known.isKeyword(node);
  }

  isResult(statement: AnyNode): boolean {
    return this.#known.isResult(statement);
  }

  isInTry(node: AnyNode): boolean {
    let inside = node;
    for (let at = this.parent(node); at !== undefined && !isFunction(at); at = this.parent(at)) {
      if (at.type === "TryStatement" && at.block === inside) return true;
      inside = at;
    }
    return false;
  }

  functionAround(node: AnyNode): AnyNode | undefined {
    for (let at = this.parent(node); at !== undefined; at = this.parent(at))
      if (isFunction(at) || at.type === "StaticBlock") return at;
    return undefined;
  }

  /** The callback that goes over the things in a list: what it does with its parameter. */
  needOfElements(call: CallExpression, depth: Depth): Need {
    const [callback] = call.arguments;
    const [parameter] = callback !== undefined && isFunction(callback) ? callback.params : [];
    if (parameter === undefined) return EITHER;
    return parameter.type === "Identifier" ? this.needOfName(parameter, depth) : VALUE;
  }

  #membersNamed(name: string): readonly AnyNode[] {
    if (this.#members === undefined) {
      const members = new Map<string, AnyNode[]>();
      walk(this.#inspection.snippet.tree, {
        enter: (node) => {
          const key = node.type === "MemberExpression" ? literalName(node.property, node.computed) : undefined;
          if (key !== undefined) collect(members, key, node);
          return undefined;
        },
      });
      this.#members = members;
    }
    return this.#members.get(name) ?? [];
  }

  #once(key: Binding | AnyNode | string, depth: Depth, look: () => Need): Need {
    const needs = this.#needs[depth];
    if (needs === undefined) return EITHER;
    const known = needs.get(key);
    if (known !== undefined) return known;
    needs.set(key, UNUSED);
    const need = look();
    needs.set(key, need);
    return need;
  }

  #resultOf(func: AnyNode, depth: Depth): Need {
    if (!isFunction(func)) return EITHER;
    if ((func.async || func.generator) && depth === 0) return EITHER;
    if (func.type === "FunctionDeclaration") return func.id === null ? EITHER : this.#calls(func.id, depth);
    return this.needOfFunction(func, depth);
  }

  #callback(func: AnyNode, call: CallExpression | NewExpression, depth: Depth): Need {
    const { callee } = call;
    if (callee.type === "MemberExpression") {
      const name = literalName(callee.property, callee.computed) ?? "";
      if (LISTING_CALLBACKS.has(name)) return this.need(call, depth + 1);
      if (USING_CALLBACKS.has(name)) return VALUE;
      return name === "forEach" ? UNUSED : EITHER;
    }
    if (callee.type !== "Identifier") return EITHER;
    if (this.isGlobal(callee)) return UNUSED;
    const parameter = this.#parameterOf(callee, call.arguments.indexOf(func as never));
    return parameter === undefined ? EITHER : this.#calls(parameter, depth);
  }

  /** What the calls of a function need that a variable holds. */
  #calls(name: AnyNode, depth: Depth): Need {
    const binding = name.type === "Identifier" ? this.#inspection.scopes.bindingOf(name) : undefined;
    if (binding === undefined) return EITHER;
    return binding.reads.reduce((need, read) => need | this.needOfFunction(read, depth), UNUSED);
  }

  #argumentOfMember(
    call: CallExpression | NewExpression,
    object: AnyNode,
    name: string | undefined,
    depth: Depth,
  ): Need {
    if (name === undefined) return VALUE;
    if (object.type !== "Identifier" || !this.isGlobal(object)) {
      if (ADDING.has(name)) return this.needOfAdding(object, depth);
      return THEN.has(name) ? EITHER : VALUE;
    }
    if (object.name === "console") return EITHER;
    if (object.name === "Promise")
      return depth === 0 || (depth === 1 && COMBINATORS.has(name)) ? EITHER : this.need(call, depth);
    const change = depth === 0 ? undefined : REARRANGING.get(`${object.name}.${name}`);
    return change === undefined ? VALUE : this.need(call, Math.max(1, depth + change));
  }

  #needOfParameter(callee: Identifier, index: number, depth: Depth): Need {
    const parameter = this.#parameterOf(callee, index);
    if (parameter === undefined) return EITHER;
    return parameter.type === "Identifier" ? this.needOfName(parameter, depth) : VALUE;
  }

  /** The parameter at a place of a function that is declared in the snippet. */
  #parameterOf(callee: Identifier, index: number): AnyNode | undefined {
    const [declared] = this.#inspection.scopes.bindingOf(callee)?.declared ?? [];
    const holder = declared && this.parent(declared);
    const func = holder?.type === "VariableDeclarator" ? holder.init : holder;
    return func != null && isFunction(func) ? func.params[index] : undefined;
  }
}
