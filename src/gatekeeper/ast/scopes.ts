import type { AnyNode, Identifier, Program as Tree } from "acorn";
import { getIdentifiers, isFunction, walk } from "./walk.ts";

/** A declared name and all its uses. */
export interface Binding {
  readonly name: string;
  readonly kind: "const" | "let" | "var" | "function" | "class" | "parameter" | "caught";
  /** The declarations; a `var` or a function can have several. */
  readonly declared: Identifier[];
  /** The reads. */
  readonly reads: Identifier[];
  /** The assignments, without the initial value. */
  readonly writes: Identifier[];
}

/** The resolved names of a program. */
export interface Scopes {
  readonly bindings: readonly Binding[];
  /** The binding of an identifier that declares, reads or writes a name. */
  findBinding(identifier: AnyNode): Binding | undefined;
  /** Identifiers without a declaration, in source order: globals and errors. */
  readonly free: readonly FreeName[];
  readonly parents: Parents;
}

export interface FreeName {
  readonly node: Identifier;
  readonly written: boolean;
}

interface Scope {
  readonly outer: Scope | undefined;
  /** True for scopes that hold `var` declarations. */
  readonly holdsVars: boolean;
  readonly names: Map<string, Binding>;
}

interface NameUse {
  readonly node: Identifier;
  readonly scope: Scope;
  readonly access: "read" | "write" | "both";
}

/**
 * Resolves every name by the rules of strict code. Resolution starts after the whole program is visited, because functions
 * and `var` can be used before their declaration.
 */
export function resolveNames(tree: Tree): Scopes {
  const analysis = new Analysis();
  walk(tree, analysis);
  return analysis.resolve();
}

class Analysis {
  readonly #parents = new ParentMap();
  readonly #bindings: Binding[] = [];
  readonly #bindingsByNode = new Map<AnyNode, Binding>();
  readonly #access = new Map<AnyNode, "write" | "both">();
  readonly #uses: NameUse[] = [];
  #scope: Scope = { outer: undefined, holdsVars: true, names: new Map() };

  readonly enter = (node: AnyNode, parent: AnyNode | undefined): boolean => {
    if (parent !== undefined) this.#parents.add(node, parent);
    const opens = OPENS.has(node.type);
    if (node.type === "Identifier") this.#use(node);
    else if (opens) this.#open(node, parent);
    else this.#note(node);
    return opens;
  };

  readonly leave = (): void => {
    this.#scope = this.#scope.outer ?? this.#scope;
  };

  resolve(): Scopes {
    const free: FreeName[] = [];
    for (const { node, scope, access } of this.#uses) {
      const binding = lookUp(node.name, scope);
      if (binding === undefined) {
        free.push({ node, written: access !== "read" });
        continue;
      }
      this.#bindingsByNode.set(node, binding);
      if (access !== "read") binding.writes.push(node);
      if (access !== "write") binding.reads.push(node);
    }
    return {
      bindings: this.#bindings,
      findBinding: (node) => this.#bindingsByNode.get(node),
      free,
      parents: this.#parents,
    };
  }

  #use(node: Identifier): void {
    if (this.#bindingsByNode.has(node)) return;
    this.#uses.push({ node, scope: this.#scope, access: this.#access.get(node) ?? "read" });
  }

  #open(node: AnyNode, parent: AnyNode | undefined): void {
    if (isFunction(node)) {
      this.#openFunction(node);
    } else if (node.type === "ClassDeclaration" || node.type === "ClassExpression") {
      if (node.type === "ClassDeclaration" && node.id !== null) this.#declare(node.id, "class");
      this.#push(false);
      if (node.type === "ClassExpression" && node.id != null) this.#declare(node.id, "class");
    } else if (node.type === "CatchClause") {
      this.#push(false);
      if (node.param != null) this.#declareAll(node.param, "caught");
    } else {
      this.#push(node.type === "StaticBlock" || (parent !== undefined && isFunction(parent)));
      if (node.type === "ForInStatement" || node.type === "ForOfStatement") this.#markTargets(node.left, "write");
    }
  }

  /** Opens the scope of a function. Its body has a separate scope, so that default values do not see its declarations. */
  #openFunction(node: Extract<AnyNode, { readonly params: unknown }>): void {
    if (node.type === "FunctionDeclaration" && node.id !== null) this.#declare(node.id, "function");
    this.#push(true);
    if (node.type === "FunctionExpression" && node.id != null) this.#declare(node.id, "function");
    if (node.type !== "ArrowFunctionExpression") {
      this.#scope.names.set("arguments", { name: "arguments", kind: "parameter", declared: [], reads: [], writes: [] });
    }
    for (const parameter of node.params) this.#declareAll(parameter, "parameter");
  }

  #note(node: AnyNode): void {
    if (node.type === "VariableDeclaration") {
      const kind = node.kind === "var" || node.kind === "let" ? node.kind : "const";
      for (const { id } of node.declarations) this.#declareAll(id, kind);
    } else if (node.type === "AssignmentExpression") {
      this.#markTargets(node.left, node.operator === "=" ? "write" : "both");
    } else if (node.type === "UpdateExpression") {
      this.#markTargets(node.argument, "both");
    }
  }

  #markTargets(target: AnyNode, access: "write" | "both"): void {
    for (const identifier of getIdentifiers(target)) this.#access.set(identifier, access);
  }

  #declareAll(pattern: AnyNode, kind: Binding["kind"]): void {
    for (const identifier of getIdentifiers(pattern)) this.#declare(identifier, kind);
  }

  #declare(identifier: Identifier, kind: Binding["kind"]): void {
    const scope = kind === "var" ? findVarScope(this.#scope) : this.#scope;
    let binding = scope.names.get(identifier.name);
    if (binding === undefined || binding.declared.length === 0) {
      binding = { name: identifier.name, kind, declared: [], reads: [], writes: [] };
      scope.names.set(identifier.name, binding);
      this.#bindings.push(binding);
    }
    binding.declared.push(identifier);
    this.#bindingsByNode.set(identifier, binding);
  }

  #push(holdsVars: boolean): void {
    this.#scope = { outer: this.#scope, holdsVars, names: new Map() };
  }
}

/** Nodes that open a scope. */
const OPENS: ReadonlySet<string> = new Set([
  "ArrowFunctionExpression",
  "BlockStatement",
  "CatchClause",
  "ClassDeclaration",
  "ClassExpression",
  "ForInStatement",
  "ForOfStatement",
  "ForStatement",
  "FunctionDeclaration",
  "FunctionExpression",
  "StaticBlock",
  "SwitchStatement",
]);

function findVarScope(from: Scope): Scope {
  let scope = from;
  while (!scope.holdsVars && scope.outer !== undefined) scope = scope.outer;
  return scope;
}

function lookUp(name: string, from: Scope): Binding | undefined {
  for (let scope: Scope | undefined = from; scope !== undefined; scope = scope.outer) {
    const binding = scope.names.get(name);
    if (binding !== undefined) return binding;
  }
  return undefined;
}

/** The parent of each node. */
export interface Parents {
  get(node: AnyNode): AnyNode | undefined;
  /** All nodes except the root, in source order. */
  keys(): Iterable<AnyNode>;
}

const PARENT = Symbol("parent");

type NodeWithParent = AnyNode & { [PARENT]?: AnyNode };

/** Stores the parents on the nodes: a `Map` would take a fifth of the total time. */
export class ParentMap implements Parents {
  readonly #nodes: AnyNode[] = [];

  add(node: AnyNode, parent: AnyNode): void {
    (node as NodeWithParent)[PARENT] = parent; // a symbol is no field of the tree
    this.#nodes.push(node);
  }

  get(node: AnyNode): AnyNode | undefined {
    return (node as NodeWithParent)[PARENT];
  }

  keys(): Iterable<AnyNode> {
    return this.#nodes;
  }
}
