import type { AnyNode, CallExpression } from "acorn";
import type { Binding } from "../ast/scopes.ts";
import { getRootObject, isFunction, literalName } from "../ast/walk.ts";
import { type CheckContext, functionAround, getParent } from "../context.ts";
import { destinationInCall, isWaitedFor } from "./promise-destination.ts";
import { isValueUse } from "./touched-places.ts";
import type { ProgramFacts } from "./types.ts";

/** The maximum number of variables, one in the value of the next, that are followed. */
const MAX_VARIABLES = 5;

/** The nodes that contain a promise as a part of their value. */
const PARTS: ReadonlySet<string> = new Set(
  "ArrayExpression ConditionalExpression LogicalExpression ObjectExpression Property".split(" "),
);

/** Finds promises whose `await` was forgotten: they are only used, stored, printed or returned as if they were values. */
export class ForgottenPromises {
  readonly #context: CheckContext;
  readonly #entry: AnyNode | undefined;
  readonly #results: ReadonlySet<AnyNode>;
  readonly #forgotten = new Map<Binding, boolean>();

  constructor({ entry, results }: ProgramFacts, context: CheckContext) {
    this.#context = context;
    this.#entry = entry;
    this.#results = new Set(results.map(({ node }) => node));
  }

  /** True for a variable, if no code awaits its promises or may do so. */
  has(binding: Binding, variables = MAX_VARIABLES): boolean {
    const cached = this.#forgotten.get(binding);
    if (cached !== undefined) return cached;
    this.#forgotten.set(binding, false); // for a variable in its own value
    const isForgotten =
      variables > 0 &&
      binding.kind !== "parameter" &&
      !isWaitedFor(binding, this.#context) &&
      binding.reads.every((read) => this.#isValue(read, variables - 1));
    this.#forgotten.set(binding, isForgotten);
    return isForgotten;
  }

  /** True for a promise that is printed, or put into a list or an object whose promises no code awaits. */
  isStored(promise: AnyNode, variables = MAX_VARIABLES): boolean {
    const { inside, outer } = this.#findWhole(promise);
    if (outer?.type === "CallExpression") {
      if (outer.callee === inside) return false;
      if (isPrint(outer, this.#context)) return !this.#isInAsync(promise);
      const list = destinationInCall(outer, this.#context);
      return typeof list === "object" && this.#isOwn(list, promise, variables);
    }
    if (outer?.type !== "AssignmentExpression" || outer.left.type !== "MemberExpression") return false;
    const owner = this.#context.scopes.findBinding(getRootObject(outer.left));
    return owner !== undefined && this.#isOwn(owner, promise, variables);
  }

  #isValue(read: AnyNode, variables: number): boolean {
    const parent = getParent(read, this.#context);
    if (parent !== undefined && isValueUse(read, parent)) return true;
    return this.#isReturned(read) || this.#isPrinted(read) || this.isStored(read, variables);
  }

  #isPrinted(read: AnyNode): boolean {
    const { inside, outer } = this.#findWhole(read);
    return outer?.type === "CallExpression" && outer.callee !== inside && isPrint(outer, this.#context);
  }

  /** True for a part of the result of the program, or of the object that an async function returns. */
  #isReturned(read: AnyNode): boolean {
    const { inside, outer } = this.#findWhole(read);
    if (outer?.type === "ExpressionStatement") return this.#results.has(outer);
    if (outer?.type !== "ReturnStatement") return false;
    const around = functionAround(outer, this.#context);
    return around === undefined || around === this.#entry || (this.#isInAsync(outer) && inside !== read);
  }

  /** True for a list or object of the function around a promise, if no code awaits what is in it. */
  #isOwn(holder: Binding, promise: AnyNode, variables: number): boolean {
    const [name] = holder.declared;
    if (name === undefined) return false;
    const isOfFunction = functionAround(name, this.#context) === functionAround(promise, this.#context);
    return isOfFunction && this.has(holder, variables);
  }

  #isInAsync(node: AnyNode): boolean {
    const around = functionAround(node, this.#context);
    return around !== undefined && around !== this.#entry && isFunction(around) && around.async;
  }

  /** Goes from a promise to the literals that contain it, up to the node that gets the whole value. */
  #findWhole(promise: AnyNode): { readonly inside: AnyNode; readonly outer: AnyNode | undefined } {
    let inside = promise;
    let outer = getParent(promise, this.#context);
    while (outer !== undefined && PARTS.has(outer.type)) [inside, outer] = [outer, getParent(outer, this.#context)];
    return { inside, outer };
  }
}

/** True for `print(…)`, `console.log(…)` and the like. */
function isPrint({ callee }: CallExpression, { scopes }: CheckContext): boolean {
  const name =
    callee.type === "MemberExpression" && literalName(callee.property, callee.computed) !== undefined
      ? callee.object
      : callee;
  if (name.type !== "Identifier" || scopes.findBinding(name) !== undefined) return false;
  return name.name === (name === callee ? "print" : "console");
}
