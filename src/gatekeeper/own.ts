import type { AnyNode, CallExpression } from "acorn";
import type { Calls } from "./device.ts";
import { functionAround, functionOf, type Inspection, isAsync, parentOf } from "./inspection.ts";
import { COMBINATORS, LISTING_CALLBACKS, REDUCING, THEN } from "./need.ts";
import type { Binding } from "./scopes.ts";
import type { SyntaxFacts } from "./syntax.ts";
import { byType, type ByType, collect, type FunctionNode, isFunction, literalName } from "./walk.ts";

/** An async function, or a call of `Promise.all`. */
export type Maker = FunctionNode | CallExpression;

/** A promise that the snippet makes itself. */
export interface OwnPromise {
  /** What is told of it. */
  readonly name: string;
  /** What it comes from and could be made plain. */
  readonly makers: readonly Maker[];
  /** True if it comes from nowhere else. */
  readonly isMadeByThemAlone: boolean;
}

/** Functions that call functions and so on are not followed further. */
const DEEPEST = 50;

/** What the snippet's own functions give. */
export interface OwnFunctions {
  /** The functions that a callee may stand for. Of members, all that have the name. */
  behind(callee: AnyNode): readonly FunctionNode[];
  /** What a call may give, if that is a promise. Calls of methods of `device` are none of these. */
  promiseOf(call: AnyNode): OwnPromise | undefined;
  /** `ids.map(async (id) => …)`, `ids.map(load)`, `Array.from(ids, load)`: what the callback gives. */
  promisesIn(call: CallExpression): OwnPromise | undefined;
  /** What comes after a method of `device` by `.then(…)` and the like, if a call is that. */
  callbacksAfter(call: CallExpression): readonly FunctionNode[] | undefined;
  /** The promises in the list that `Promise.all` is given, as far as they can be seen there. */
  promisesAmong(call: CallExpression): readonly OwnPromise[];
}

export function findOwnFunctions(facts: SyntaxFacts, calls: Calls, inspection: Inspection): OwnFunctions {
  return new Finder(facts, calls, inspection);
}

class Finder implements OwnFunctions {
  readonly #inspection: Inspection;
  readonly #facts: SyntaxFacts;
  readonly #calls: Calls;
  /** Then `Array.from` would be something else. */
  readonly #hasOwnArray: boolean;
  readonly #promises = new Map<AnyNode, OwnPromise | undefined>();
  readonly #values = new Map<Binding, readonly FunctionNode[]>();
  /** Thousands of calls may stand for thousands of functions. */
  readonly #sums = new Map<readonly FunctionNode[], OwnPromise | undefined>();
  readonly #given = new Map<FunctionNode, OwnPromise | undefined>();
  #depth = 0;
  #members: ReadonlyMap<string, readonly FunctionNode[]> | undefined;
  #returned: ReadonlyMap<AnyNode, readonly AnyNode[]> | undefined;

  constructor(facts: SyntaxFacts, calls: Calls, inspection: Inspection) {
    this.#facts = facts;
    this.#calls = calls;
    this.#inspection = inspection;
    this.#hasOwnArray = inspection.scopes.bindings.some(({ name }) => name === "Array");
  }

  behind(callee: AnyNode): readonly FunctionNode[] {
    if (isFunction(callee)) return [callee];
    if (callee.type === "ChainExpression") return this.behind(callee.expression);
    if (callee.type === "MemberExpression") {
      const name = literalName(callee.property, callee.computed);
      return name === undefined ? [] : this.#membersNamed(name);
    }
    const binding = callee.type === "Identifier" ? this.#inspection.scopes.bindingOf(callee) : undefined;
    return binding === undefined ? [] : this.#valuesOf(binding);
  }

  promiseOf(call: AnyNode): OwnPromise | undefined {
    if (call.type === "NewExpression" && call.callee.type === "Identifier" && call.callee.name === "Promise")
      return { name: "new Promise", makers: [], isMadeByThemAlone: false };
    if (call.type !== "CallExpression" || this.#calls.has(call)) return undefined;
    if (this.#promises.has(call)) return this.#promises.get(call);
    const promise = this.#promiseOfBuiltin(call) ?? this.#sumOf(this.behind(call.callee), call.callee);
    this.#promises.set(call, promise);
    return promise;
  }

  promisesIn({ callee, arguments: given }: CallExpression): OwnPromise | undefined {
    const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
    const callback = LISTING_CALLBACKS.has(name ?? "") ? given[name === "from" ? 1 : 0] : undefined;
    return callback && this.#sumOf(this.behind(callback), callback);
  }

  callbacksAfter(call: CallExpression): readonly FunctionNode[] | undefined {
    const callbacks: FunctionNode[] = [];
    let at: AnyNode = call;
    while (at.type === "CallExpression" && !this.#calls.has(at)) {
      const { callee, arguments: given }: CallExpression = at;
      if (callee.type !== "MemberExpression" || !THEN.has(literalName(callee.property, callee.computed) ?? ""))
        return undefined;
      callbacks.push(...given.flatMap((callback) => this.behind(callback)));
      at = callee.object;
    }
    return at === call || !this.#calls.has(at) ? undefined : callbacks;
  }

  promisesAmong({ arguments: [list] }: CallExpression): readonly OwnPromise[] {
    if (list?.type === "CallExpression") return [this.promiseOf(list) ?? this.promisesIn(list) ?? []].flat();
    if (list?.type !== "ArrayExpression") return [];
    return list.elements.flatMap((element) => (element === null ? [] : (this.promiseOf(element) ?? [])));
  }

  #promiseOfBuiltin(call: CallExpression): OwnPromise | undefined {
    const { callee } = call;
    if (callee.type !== "MemberExpression" || this.#inspection.plainLists.has(call)) return undefined;
    const name = literalName(callee.property, callee.computed) ?? "";
    const { object } = callee;
    if (THEN.has(name)) return { name: `.${name}(…)`, makers: [], isMadeByThemAlone: false };
    if (REDUCING.has(name)) return this.#promiseOfReducing(call, name);
    const isPromise = object.type === "Identifier" && object.name === "Promise";
    if (!isPromise || this.#inspection.scopes.bindingOf(object) !== undefined) return undefined;
    if (name === "all") return { name: "Promise.all", makers: [call], isMadeByThemAlone: !this.#hasOwnArray };
    return COMBINATORS.has(name) || name === "resolve"
      ? { name: `Promise.${name}`, makers: [], isMadeByThemAlone: false }
      : undefined;
  }

  /** What an async callback gives last. It gets what it gave before, which it awaits: so it stays as it is. */
  #promiseOfReducing({ arguments: [callback] }: CallExpression, name: string): OwnPromise | undefined {
    const promise = callback && this.#sumOf(this.behind(callback), callback);
    return promise && { name: `.${name}(…)`, makers: [], isMadeByThemAlone: false };
  }

  #sumOf(functions: readonly FunctionNode[], callee: AnyNode): OwnPromise | undefined {
    if (functions.length === 0) return undefined;
    const sum = this.#sums.has(functions)
      ? this.#sums.get(functions)
      : sumOfPromises(functions.flatMap((func) => this.#givenBy(func) ?? []));
    this.#sums.set(functions, sum);
    return sum && { ...sum, name: nameOf(callee) };
  }

  /** What leads back to where it is being looked at from adds nothing. */
  #givenBy(func: FunctionNode): OwnPromise | undefined {
    if (func.generator) return undefined;
    if (isAsync(func, this.#inspection)) return { name: "", makers: [func], isMadeByThemAlone: true };
    if (this.#given.has(func) || this.#depth >= DEEPEST) return this.#given.get(func);
    this.#given.set(func, undefined);
    this.#depth++;
    const results = isArrowOfExpression(func) ? [func.body] : (this.#returnsOf(func) ?? []);
    const given = sumOfPromises(results.flatMap(endsOf).flatMap((result) => this.promiseOf(result) ?? []));
    this.#given.set(func, given);
    this.#depth--;
    return given;
  }

  /** The functions that a variable is declared with or gets later. */
  #valuesOf(binding: Binding): readonly FunctionNode[] {
    const known = this.#values.get(binding);
    if (known !== undefined) return known;
    const declared = functionOf(binding, this.#inspection);
    const assigned = binding.writes.flatMap((name) => {
      const parent = parentOf(name, this.#inspection);
      return parent?.type === "AssignmentExpression" && isFunction(parent.right) ? [parent.right] : [];
    });
    const values = declared === undefined ? assigned : [declared, ...assigned];
    this.#values.set(binding, values);
    return values;
  }

  #membersNamed(name: string): readonly FunctionNode[] {
    if (this.#members === undefined) {
      const members = new Map<string, FunctionNode[]>();
      for (const func of this.#facts.functions) {
        const key = this.#keyOf(func);
        if (key !== undefined) collect(members, key, func);
      }
      this.#members = members;
    }
    return this.#members.get(name) ?? [];
  }

  /** The name under which an object or class has a function. */
  #keyOf(func: FunctionNode): string | undefined {
    const holder = parentOf(func, this.#inspection);
    if (holder === undefined) return undefined;
    if (holder.type === "AssignmentExpression") {
      const { left } = holder;
      return left.type === "MemberExpression" ? literalName(left.property, left.computed) : undefined;
    }
    const isMember =
      holder.type === "Property" || holder.type === "MethodDefinition" || holder.type === "PropertyDefinition";
    return isMember && holder.value === func ? literalName(holder.key, holder.computed) : undefined;
  }

  #returnsOf(func: FunctionNode): readonly AnyNode[] | undefined {
    if (this.#returned === undefined) {
      const returned = new Map<AnyNode, AnyNode[]>();
      for (const statement of this.#facts.returns) {
        const around = functionAround(statement, this.#inspection);
        if (around !== undefined && statement.argument != null) collect(returned, around, statement.argument);
      }
      this.#returned = returned;
    }
    return this.#returned.get(func);
  }
}

function sumOfPromises(promises: readonly OwnPromise[]): OwnPromise | undefined {
  if (promises.length === 0) return undefined;
  return {
    name: "",
    makers: [...new Set(promises.flatMap(({ makers }) => makers))],
    isMadeByThemAlone: promises.every(({ isMadeByThemAlone }) => isMadeByThemAlone),
  };
}

/** `api.load` of `api.load(1)` */
function nameOf(callee: AnyNode): string {
  if (callee.type === "Identifier") return callee.name;
  const name = callee.type === "MemberExpression" ? literalName(callee.property, callee.computed) : undefined;
  if (callee.type !== "MemberExpression" || name === undefined) return "the async function";
  return callee.object.type === "Identifier" ? `${callee.object.name}.${name}` : name;
}

function isArrowOfExpression(func: FunctionNode): boolean {
  return func.type === "ArrowFunctionExpression" && func.expression;
}

/** The expressions of which one is the value. */
function endsOf(expression: AnyNode): readonly AnyNode[] {
  return byType(ENDS, expression, expression) ?? [expression];
}

const ENDS: ByType<readonly AnyNode[]> = {
  AssignmentExpression: ({ right }) => endsOf(right),
  ConditionalExpression: ({ consequent, alternate }) => [...endsOf(consequent), ...endsOf(alternate)],
  LogicalExpression: ({ right }) => endsOf(right),
};
