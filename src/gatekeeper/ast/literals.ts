import type { AnyNode, ArrayExpression, BinaryExpression, Identifier, ObjectExpression } from "acorn";
import { UNKNOWN } from "../../model/plan.ts";
import type { Binding, Scopes } from "./scopes.ts";
import { literalName } from "./walk.ts";

/** Deeper values count as unknown. */
const MAX_DEPTH = 60;

/** Evaluates an expression to plain data, with `UNKNOWN` for parts that are known only at run time. */
export function literalValue(node: AnyNode, scopes: Scopes, depth = 0): unknown {
  if (depth > MAX_DEPTH) return UNKNOWN;
  if (node.type === "Literal") return node.regex != null || typeof node.value === "bigint" ? UNKNOWN : node.value;
  if (node.type === "TemplateLiteral") return node.expressions.length === 0 ? node.quasis[0]?.value.cooked : UNKNOWN;
  if (node.type === "BinaryExpression") return evaluateSum(node, scopes);
  if (node.type === "UnaryExpression")
    return evaluateSign(node.operator, literalValue(node.argument, scopes, depth + 1));
  if (node.type === "Identifier") return evaluateName(node, scopes, depth);
  if (node.type === "ArrayExpression") return evaluateArray(node, scopes, depth);
  return node.type === "ObjectExpression" ? evaluateObject(node, scopes, depth) : UNKNOWN;
}

/** Evaluates an expression as if it were the whole program: names in it are `UNKNOWN`. */
export function literalWithoutNames(node: AnyNode): unknown {
  return literalValue(node, { bindings: [], free: [], parents: new Map(), findBinding: () => undefined });
}

/** The name of a member or a key, if it is a literal or a constant that holds one. */
export function knownName(key: AnyNode, computed: boolean, scopes: Scopes): string | undefined {
  const written = literalName(key, computed);
  if (written !== undefined || !computed || key.type !== "Identifier") return written;
  const value = literalValue(key, scopes);
  return typeof value === "string" ? value : undefined;
}

/** The expression that a constant stands for; `undefined` for any other expression. */
export function constantNode(node: AnyNode, scopes: Scopes): AnyNode | undefined {
  let found: AnyNode | undefined;
  for (let at = node, depth = 0; at.type === "Identifier" && depth < MAX_DEPTH; depth++) {
    const binding = scopes.findBinding(at);
    const initial = binding && constantInit(binding, scopes);
    if (initial === undefined) return undefined;
    found = initial;
    at = initial;
  }
  return found;
}

/** Joins texts. A part is a literal or a constant literal and no other sum, so that the text is no longer than the program. */
function evaluateSum(node: BinaryExpression, scopes: Scopes): unknown {
  const parts: AnyNode[] = [];
  let at: AnyNode = node;
  for (; at.type === "BinaryExpression"; at = at.left) {
    if (at.operator !== "+") return UNKNOWN;
    parts.unshift(at.right);
  }
  const texts = [at, ...parts].map((part) => {
    const literal = constantNode(part, scopes) ?? part;
    return literal.type === "Literal" || literal.type === "TemplateLiteral" ? literalValue(literal, scopes) : UNKNOWN;
  });
  return texts.every((text) => typeof text === "string") ? texts.join("") : UNKNOWN;
}

function evaluateSign(operator: string, value: unknown): unknown {
  return operator === "-" && typeof value === "number" ? -value : UNKNOWN;
}

function evaluateName(node: Identifier, scopes: Scopes, depth: number): unknown {
  const binding = scopes.findBinding(node);
  if (binding === undefined) return node.name === "undefined" ? undefined : UNKNOWN;
  const initial = constantInit(binding, scopes);
  return initial === undefined ? UNKNOWN : literalValue(initial, scopes, depth + 1);
}

/** The initial value of a constant. Data counts only if the constant is read once, so that no other code can change it. */
function constantInit(binding: Binding, { parents }: Scopes): AnyNode | undefined {
  const [declared] = binding.declared;
  const declarator = declared && parents.get(declared);
  if (binding.kind !== "const" || declarator?.type !== "VariableDeclarator" || declarator.id !== declared)
    return undefined;
  const { init } = declarator;
  if (init == null) return undefined;
  const isData = init.type === "ObjectExpression" || init.type === "ArrayExpression";
  return isData && binding.reads.length > 1 ? undefined : init;
}

function evaluateArray({ elements }: ArrayExpression, scopes: Scopes, depth: number): unknown {
  if (elements.some((element) => element === null || element.type === "SpreadElement")) return UNKNOWN;
  return elements.map((element) => (element === null ? UNKNOWN : literalValue(element, scopes, depth + 1)));
}

/** `UNKNOWN` unless all keys are literal. `__proto__: x` does not set a property. */
function evaluateObject({ properties }: ObjectExpression, scopes: Scopes, depth: number): unknown {
  const entries: [string, unknown][] = [];
  for (const property of properties) {
    const name = property.type === "Property" ? literalName(property.key, property.computed) : undefined;
    if (property.type !== "Property" || name === undefined) return UNKNOWN;
    if (name === "__proto__" && !property.computed && !property.shorthand) return UNKNOWN;
    const isValue = property.kind === "init" && !property.method;
    entries.push([name, isValue ? literalValue(property.value, scopes, depth + 1) : UNKNOWN]);
  }
  return Object.fromEntries(entries);
}
