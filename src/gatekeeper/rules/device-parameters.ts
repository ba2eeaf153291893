import type { AnyNode, CallExpression } from "acorn";
import { findFunction, type CheckContext, getParent } from "../context.ts";
import type { Binding } from "../ast/scopes.ts";
import { type FunctionNode, isFunction, literalName } from "../ast/walk.ts";

/** A parameter of a local function that receives `device`. */
interface DeviceBinding {
  /** A name, or a pattern. */
  readonly parameter: AnyNode;
  /** False if another call passes another value. */
  readonly isAlwaysDevice: () => boolean;
}

/**
 * Finds the parameter that receives `device` in `main(device)` and `main({ device })`; `undefined` if it cannot be found.
 * `names` are the variables that hold `device`.
 */
export function findDeviceParameter(
  node: AnyNode,
  names: ReadonlySet<Binding>,
  context: CheckContext,
): DeviceBinding | undefined {
  const property = getParent(node, context);
  const isPart = property?.type === "Property" && property.value === node;
  const key = isPart ? literalName(property.key, property.computed) : undefined;
  const argument = isPart ? getParent(property, context) : node;
  const call = argument && getParent(argument, context);
  if (call?.type !== "CallExpression" || (isPart && key === undefined)) return undefined;
  const index = call.arguments.indexOf(argument as never);
  const called = index < 0 ? undefined : findCalledFunction(call, context);
  const whole = called?.func.params[index];
  const parameter = key === undefined ? whole : getPatternTarget(whole, key);
  if (called === undefined || parameter === undefined) return undefined;
  const { scopes } = context;
  // A recursive call may pass the parameter itself.
  const own = scopes.findBinding(parameter);
  const isDevice = (argument: AnyNode | undefined): boolean => {
    const binding = argument?.type === "Identifier" ? scopes.findBinding(argument) : undefined;
    if (binding !== undefined) return binding === own || names.has(binding);
    return argument?.type === "Identifier" && argument.name === "device";
  };
  const isAlwaysDevice = (): boolean =>
    called.calls().every((each) => isDevice(selectProperty(getArgument(each, index), key)));
  return { parameter, isAlwaysDevice };
}

interface CalledFunction {
  readonly func: FunctionNode;
  /** All uses of the function; `undefined` for a use that is not a call. */
  readonly calls: () => readonly (CallExpression | undefined)[];
}

function findCalledFunction(call: CallExpression, context: CheckContext): CalledFunction | undefined {
  const { callee } = call;
  if (isFunction(callee)) return { func: callee, calls: () => [call] };
  const binding = callee.type === "Identifier" ? context.scopes.findBinding(callee) : undefined;
  const func = binding && findFunction(binding, context);
  if (binding === undefined || func === undefined) return undefined;
  if (binding.writes.length > 0 || binding.declared.length > 1) return undefined;
  const getCall = (read: AnyNode): CallExpression | undefined => {
    const outer = getParent(read, context);
    return outer?.type === "CallExpression" && outer.callee === read ? outer : undefined;
  };
  return { func, calls: () => binding.reads.map(getCall) };
}

/** The argument at an index; `undefined` if a spread argument precedes it. */
function getArgument(call: CallExpression | undefined, index: number): AnyNode | undefined {
  const args = call?.arguments.slice(0, index + 1) ?? [];
  return args.some(({ type }) => type === "SpreadElement") ? undefined : args[index];
}

function selectProperty(argument: AnyNode | undefined, key: string | undefined): AnyNode | undefined {
  if (key === undefined || argument?.type !== "ObjectExpression") return key === undefined ? argument : undefined;
  const [only, ...more] = argument.properties.filter(
    (property) => property.type === "SpreadElement" || literalName(property.key, property.computed) === key,
  );
  return only?.type === "Property" && more.length === 0 ? only.value : undefined;
}

/** The target of a key in an object pattern. */
function getPatternTarget(pattern: AnyNode | undefined, key: string): AnyNode | undefined {
  if (pattern?.type !== "ObjectPattern") return undefined;
  for (const property of pattern.properties) {
    if (property.type === "Property" && literalName(property.key, property.computed) === key) return property.value;
  }
  return undefined;
}
