import type { AnyNode, MemberExpression } from "acorn";
import { printableName } from "../../shared/source-text.ts";
import type { CheckContext } from "../context.ts";
import { formatMethodCall, type DeviceOwner, type DeviceRef, formatRef } from "./device-reference.ts";
import { formatCall } from "../suggestions.ts";
import type { MessageParts } from "../report.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";

export const PLAIN_CALL_HINT = "Write device.Skill.method(…) with literal names";

/** Refuses a use of `device` that cannot be analyzed. */
export function refuseDynamic(node: AnyNode, words: MessageParts, { report }: CheckContext): void {
  report.refuse("DEVICE_DYNAMIC", node, () => words);
}

/** Refuses a call of `device` or of a skill: only methods can be called. */
export function refuseCall(call: AnyNode, ref: DeviceOwner, context: CheckContext): void {
  const [first] = ref.kind === "skill" ? ref.skill.methods : [];
  const values =
    ref.kind === "skill" ? `${ref.skill.name} is a skill, not a method` : `${formatRef(ref)} is not a function`;
  refuseDynamic(call, { values, fix: first === undefined ? PLAIN_CALL_HINT : `Write ${formatCall(first)}` }, context);
}

export function refuseChange(node: AnyNode, ref: DeviceRef, { report }: CheckContext): void {
  report.refuse("DEVICE_READONLY", node, () => ({ values: formatRef(ref) }));
}

/** Refuses another use of `pages` than its call. */
export function refusePages(node: AnyNode, ref: DeviceRef, context: CheckContext): void {
  refuseDynamic(node, { values: `${formatRef(ref)} is not called`, fix: `Write ${formatRef(ref)}({ … })` }, context);
}

/** Refuses a member of a method; the fix depends on the member that the program uses. */
export function refuseMember(
  path: string,
  { property }: MemberExpression,
  name: string | undefined,
  context: CheckContext,
): void {
  const form = `${formatMethodAccess(path)}(…)`;
  const refuse = (values: string, fix: string): void => refuseDynamic(property, { values, fix }, context);
  switch (name ?? "[…]") {
    case "pages":
      return refuse(`${path} has no pages`, `Call it: ${form}`);
    case "call":
    case "apply":
      return refuse(`${path}.${name}`, `Call it directly: ${form}`);
    case "bind": {
      const withFirst = `(…) => ${form} to pass leading arguments`;
      return refuse(`${path}.bind`, `It does not need this: write ${formatMethodAccess(path)} itself, or ${withFirst}`);
    }
    case "then":
    case "catch":
    case "finally":
      return refuse(`${path} is not called`, `Write ${form}.${name}(…)`);
    default:
      return refuse(`${path}.${printableName(name ?? "[…]")}`, `Call it: ${form}`);
  }
}

/** Refuses a method that is neither called nor passed on, such as `new device.Skill.method()`. Returns true if it did. */
export function refuseUncalled(
  node: AnyNode,
  parent: AnyNode,
  ref: Extract<DeviceRef, { readonly kind: "method" }>,
  context: CheckContext,
): boolean {
  const fix = `Write ${formatMethodCall(ref)}`;
  if (parent.type === "NewExpression" && parent.callee === node)
    refuseDynamic(parent, { values: "a method with new", fix }, context);
  else if (parent.type === "TaggedTemplateExpression")
    refuseDynamic(parent, { values: "a method as a template tag", fix }, context);
  else if (parent.type === "ExpressionStatement" || parent.type === "AwaitExpression")
    refuseDynamic(node, { values: `${ref.path} is not called`, fix }, context);
  else return false;
  return true;
}
