import type { AnyNode, AwaitExpression, CallExpression, ExpressionStatement, MemberExpression } from "acorn";
import type { CheckedArguments } from "./arguments.ts";
import type { MethodUse } from "./device.ts";
import { createFlow, type Flow } from "./flow.ts";
import type { Inspection } from "./inspection.ts";
import { AWAITED, COMBINATORS, type Need, PROMISE, THEN, UNUSED, VALUE } from "./need.ts";
import type { ResultStatement } from "./result.ts";
import type { Binding } from "./scopes.ts";
import { mayAwait, type SyntaxFacts } from "./syntax.ts";
import { collect, isFunction, literalName } from "./walk.ts";

/** Callbacks of these that are async would be taken for their promises, or not be waited for. */
const SYNC_CALLBACKS: ReadonlySet<string> = new Set(
  "forEach filter find findIndex findLast findLastIndex some every sort toSorted flatMap".split(" "),
);

/** How many arguments a callback of these is meant to get; they hand over more, which would fill further parameters. */
const CALLBACK_PARAMETERS: ReadonlyMap<string, number> = new Map([
  ...[..."map from".split(" "), ...SYNC_CALLBACKS].map((name) => [name, 1] as const),
  ...["sort", "toSorted", "reduce", "reduceRight"].map((name) => [name, 2] as const),
]);

export interface Known {
  readonly uses: readonly MethodUse[];
  readonly args: CheckedArguments;
  readonly facts: SyntaxFacts;
  readonly results: readonly ResultStatement[];
}

/**
 * Decides for every call of a method whether it stays a promise or is waited for (S2), and writes that into the text. A
 * call that is used as a value blocks the snippet; one that nothing looks at is awaited, so that it is over before the next
 * statement. Returns the uses that block.
 */
export function writeWaits(known: Known, inspection: Inspection): ReadonlySet<MethodUse> {
  const waits = new Waits(known, inspection);
  waits.writeMethods();
  waits.writeOwnFunctions();
  waits.writeStatements();
  waits.refuseOtherAwaits();
  return waits.finish();
}

class Waits {
  readonly #known: Known;
  readonly #inspection: Inspection;
  readonly #flow: Flow;
  readonly #calls: ReadonlyMap<AnyNode, MethodUse>;
  /** Callbacks that lose their `async`. */
  readonly #made = new Set<AnyNode>();
  readonly #blocking = new Set<MethodUse>();
  readonly #awaited = new Set<AnyNode>();
  readonly #told = new Set<string>();
  readonly #resultNodes: ReadonlySet<AnyNode>;
  #callers: ReadonlySet<AnyNode> | undefined;

  constructor(known: Known, inspection: Inspection) {
    this.#known = known;
    this.#inspection = inspection;
    this.#calls = new Map(known.uses.flatMap((use) => (use.call === undefined ? [] : [[use.call, use]])));
    this.#resultNodes = new Set(known.results.filter(({ isInLoop }) => !isInLoop).map(({ node }) => node));
    this.#flow = createFlow(inspection, {
      isMethodCall: (call) => this.#calls.has(call),
      isKeyword: (node) => known.args.keywords.has(node),
      isResult: (statement) => this.#resultNodes.has(statement),
    });
    this.#makeCallbacksSync();
  }

  finish(): ReadonlySet<MethodUse> {
    const told = [...this.#told];
    const more = told.length > 3 ? ` and ${told.length - 3} more` : "";
    if (told.length > 0)
      this.#inspection.report.note(`await was missing: ${told.slice(0, 3).join(", ")}${more} was waited for`);
    return this.#blocking;
  }

  writeMethods(): void {
    for (const use of this.#known.uses) {
      if (use.call !== undefined) this.#writeCall(use, use.call);
      else if (!use.isWholeSkill) this.#writeCallback(use);
    }
  }

  /** A call of an async function of the snippet itself cannot block, but it can be awaited. */
  writeOwnFunctions(): void {
    for (const { call } of this.#callsOfOwnFunctions()) {
      const need = this.#flow.needOf(call);
      if ((need & VALUE) === 0 || (need & PROMISE) !== 0 || !mayAwait(call, this.#inspection)) continue;
      this.#inspection.report.wrap(call, this.#beginsStatement(call) ? "0,(await " : "(await ", ")");
      this.#awaited.add(call);
      this.#tell(call.callee.type === "Identifier" ? call.callee.name : "a function");
    }
  }

  /** At the top nothing else would wait for the calls that a statement starts, and the run could end before them. */
  writeStatements(): void {
    for (const statement of this.#known.facts.callStatements) {
      const { expression } = statement;
      if (this.#resultNodes.has(statement) || this.#awaited.has(expression) || this.#calls.has(expression)) continue;
      if (
        this.#functionAround(statement) !== undefined ||
        !this.#isPromise(expression) ||
        !this.#callsMethods(expression)
      )
        continue;
      this.#inspection.report.wrap({ start: expression.start, end: expression.start }, "await ", "");
    }
  }

  /** `await` is a mistake in a function that is not async, unless it only waits for a method. */
  refuseOtherAwaits(): void {
    const { report } = this.#inspection;
    for (const node of this.#known.facts.awaits) {
      if (mayAwait(node, this.#inspection) || this.#methodOf(node) !== undefined) continue;
      const fix = "Write async before the parameters of the function: async (…) => …";
      report.refuse("SYNTAX", node, () => ({ values: "await in a function that is not async", fix }));
    }
  }

  #writeCall(use: MethodUse, call: CallExpression): void {
    const awaiting = this.#awaitOf(call);
    const inSync = this.#made.has(this.#functionAround(call) as AnyNode);
    if (awaiting !== undefined && (inSync || !mayAwait(awaiting, this.#inspection))) {
      this.#dropAwait(awaiting);
      this.#block(use);
      return;
    }
    const need = this.#flow.needOf(call);
    if (inSync && (need & PROMISE) === 0) return this.#block(use);
    const decision = decide(need);
    if (decision === "promise") return;
    if (decision === "block" || !mayAwait(call, this.#inspection)) this.#block(use);
    else this.#inspection.report.wrap({ start: call.start, end: call.start }, "await ", "");
    this.#tell(use.path);
  }

  /** A method that is handed over as a callback, as in `ids.map(device.A.x)`. */
  #writeCallback(use: MethodUse): void {
    const { report } = this.#inspection;
    const { node } = use;
    const blocks = decide(this.#flow.needOfFunction(node)) !== "promise";
    const [before, after] = blocks ? ["__wait(", ")"] : ["", ""];
    const parameters = ["__waitedFirst", "__waitedSecond"].slice(0, this.#parametersOfCallback(node)).join(", ");
    if (parameters === "" && !blocks) return;
    if (parameters === "") report.wrap(node, before, after);
    else report.wrap(node, `(${parameters}) => ${before}`, `${after}(${parameters})`);
    if (blocks) this.#blocking.add(use);
  }

  #block(use: MethodUse): void {
    if (use.call !== undefined) this.#inspection.report.wrap(use.call.callee, "__wait(", ")");
    this.#blocking.add(use);
  }

  #dropAwait(node: AwaitExpression): void {
    this.#inspection.report.replace({ start: node.start, end: node.start + "await".length }, "");
  }

  #tell(path: string): void {
    this.#told.add(path);
  }

  #parametersOfCallback(node: AnyNode): number {
    const call = this.#parent(node);
    if (call?.type !== "CallExpression" || call.callee.type !== "MemberExpression") return 0;
    const name = literalName(call.callee.property, call.callee.computed) ?? "";
    const place = name === "from" ? 1 : 0;
    return call.arguments[place] === node ? (CALLBACK_PARAMETERS.get(name) ?? 0) : 0;
  }

  /** Callbacks whose promises nobody would look at lose their `async`, if all they await are methods. */
  #makeCallbacksSync(): void {
    const { report } = this.#inspection;
    const awaitsOf = new Map<AnyNode, AwaitExpression[]>();
    for (const node of this.#known.facts.awaits) {
      const func = this.#functionAround(node);
      if (func !== undefined) collect(awaitsOf, func, node);
    }
    for (const [func, awaits] of awaitsOf) {
      const name = isFunction(func) && func.async && !func.generator ? this.#callbackOf(func) : undefined;
      if (name === undefined) continue;
      if (awaits.every((node) => this.#methodOf(node) !== undefined)) {
        report.replace({ start: func.start, end: func.start + "async".length }, "");
        report.note(`${name} waits for no promise: the calls in its callback were made one after the other`);
        this.#made.add(func);
      } else report.note(`${name} does not wait for its async callback: write for (const … of …) { await … }`);
    }
  }

  #callbackOf(func: AnyNode): string | undefined {
    const call = this.#parent(func);
    if (call?.type !== "CallExpression" || call.arguments[0] !== func || call.callee.type !== "MemberExpression")
      return undefined;
    const name = literalName(call.callee.property, call.callee.computed);
    return name !== undefined && SYNC_CALLBACKS.has(name) ? name : undefined;
  }

  /** Calls of the async functions that the snippet declares. */
  *#callsOfOwnFunctions(): Iterable<{ readonly call: CallExpression; readonly func: AnyNode }> {
    for (const binding of this.#inspection.scopes.bindings) {
      const func = this.#asyncFunctionOf(binding);
      if (func === undefined) continue;
      for (const read of binding.reads) {
        const call = this.#parent(read);
        if (call?.type === "CallExpression" && call.callee === read) yield { call, func };
      }
    }
  }

  #asyncFunctionOf({ declared, writes }: Binding): AnyNode | undefined {
    const [name] = declared;
    const holder = name && this.#parent(name);
    if (holder === undefined || writes.length > 0) return undefined;
    const func = holder.type === "VariableDeclarator" && holder.id === name ? holder.init : holder;
    if (func == null || !isFunction(func) || !func.async || func.generator) return undefined;
    return func === holder && func.id !== name ? undefined : func;
  }

  #isPromise(expression: ExpressionStatement["expression"]): boolean {
    let at: CallExpression["callee"] | ExpressionStatement["expression"] = expression;
    while (at.type === "CallExpression" && at.callee.type === "MemberExpression") {
      const { object, property, computed }: MemberExpression = at.callee;
      if (this.#calls.has(at)) return true;
      const name = literalName(property, computed) ?? "";
      if (object.type === "Identifier" && object.name === "Promise") return COMBINATORS.has(name);
      if (!THEN.has(name)) return false;
      at = object;
    }
    if (at.type !== "CallExpression") return false;
    if (isFunction(at.callee)) return at.callee.async && !at.callee.generator;
    if (this.#calls.has(at)) return true;
    const binding = at.callee.type === "Identifier" ? this.#inspection.scopes.bindingOf(at.callee) : undefined;
    return binding !== undefined && this.#asyncFunctionOf(binding) !== undefined;
  }

  /** The `await` that a call is the operand of. */
  #awaitOf(call: CallExpression): AwaitExpression | undefined {
    const parent = this.#parent(call);
    const outer = parent?.type === "ChainExpression" ? this.#parent(parent) : parent;
    return outer?.type === "AwaitExpression" ? outer : undefined;
  }

  #methodOf({ argument }: AwaitExpression): MethodUse | undefined {
    return this.#calls.get(argument.type === "ChainExpression" ? argument.expression : argument);
  }

  /** True if a method is called in an expression, or in a function of the snippet that it calls. */
  #callsMethods(expression: AnyNode): boolean {
    this.#callers ??= this.#findCallers();
    return this.#callers.has(expression);
  }

  /** Everything around a call of a method, and everything around a call of a function that has one inside. */
  #findCallers(): ReadonlySet<AnyNode> {
    const found = new Set<AnyNode>();
    const rest: AnyNode[] = this.#known.uses.map(({ node }) => node);
    const callsOf = new Map<AnyNode, CallExpression[]>();
    for (const { call, func } of this.#callsOfOwnFunctions()) collect(callsOf, func, call);
    for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
      for (let at: AnyNode | undefined = node; at !== undefined && !found.has(at); at = this.#parent(at)) {
        found.add(at);
        rest.push(...(callsOf.get(at) ?? []));
      }
    }
    return found;
  }

  /** There, a bracket could go on with the statement before. */
  #beginsStatement(node: AnyNode): boolean {
    let at: AnyNode | undefined = node;
    while (at !== undefined && at.start === node.start && at.type !== "ExpressionStatement") at = this.#parent(at);
    return at?.type === "ExpressionStatement" && at.start === node.start;
  }

  #functionAround(node: AnyNode): AnyNode | undefined {
    for (let at = this.#parent(node); at !== undefined; at = this.#parent(at)) {
      if (isFunction(at) || at.type === "StaticBlock" || at.type === "PropertyDefinition") return at;
    }
    return undefined;
  }

  #parent(node: AnyNode): AnyNode | undefined {
    return this.#inspection.scopes.parents.get(node);
  }
}

/** When in doubt, a promise: it is settled where it reaches the result. */
function decide(need: Need): "promise" | "block" | "await" {
  if ((need & PROMISE) !== 0) return "promise";
  if ((need & VALUE) !== 0) return "block";
  return need === UNUSED || (need & AWAITED) !== 0 ? "await" : "promise";
}
