import type { AnyNode, MemberExpression } from "acorn";
import { shown } from "../model/frame.ts";
import type { Inspection } from "./inspection.ts";
import { formOf, type Meaning, nameOf } from "./meaning.ts";
import { callForm } from "./names.ts";
import type { Words } from "./report.ts";

export const PLAIN_FORM = "Write device.Skill.method(…) with literal names";

/** Where `device` cannot be followed: what stands there, and what can be. */
export function refuseDynamic(place: AnyNode, words: Words, { report }: Inspection): void {
  report.refuse("DEVICE_DYNAMIC", place, () => words);
}

/** Only methods can be called. */
export function refuseCall(
  call: AnyNode,
  meaning: Exclude<Meaning, { readonly kind: "method" }>,
  inspection: Inspection,
): void {
  const [first] = meaning.kind === "skill" ? meaning.skill.methods : [];
  const values = meaning.kind === "skill" ? `${meaning.skill.name} is a skill and no method` : "device is no function";
  refuseDynamic(call, { values, fix: first === undefined ? PLAIN_FORM : `Write ${callForm(first)}` }, inspection);
}

export function refuseChange(node: AnyNode, meaning: Meaning, { report }: Inspection): void {
  report.refuse("DEVICE_READONLY", node, () => ({ values: nameOf(meaning) }));
}

/** A method has no members; what models take for some says what they want. */
export function refuseMemberOf(
  path: string,
  { property }: MemberExpression,
  name: string | undefined,
  inspection: Inspection,
): void {
  const form = `device.${path}(…)`;
  const refuse = (values: string, fix: string): void => refuseDynamic(property, { values, fix }, inspection);
  switch (name ?? "[…]") {
    case "call":
    case "apply":
      return refuse(`${path}.${name}`, `Call it directly: ${form}`);
    case "bind": {
      const withFirst = `(…) => ${form} for arguments that come first`;
      return refuse(`${path}.bind`, `It needs no this: write device.${path} itself, or ${withFirst}`);
    }
    case "then":
    case "catch":
    case "finally":
      return refuse(`${path} is not called`, `Write ${form}.${name}(…)`);
    default:
      return refuse(`${path}.${shown(name ?? "[…]")}`, `Call it: ${form}`);
  }
}

/** A method that is neither called nor handed on, as in `new device.Skill.method()`. Says whether it is one. */
export function refuseUncalled(
  node: AnyNode,
  parent: AnyNode,
  meaning: Extract<Meaning, { readonly kind: "method" }>,
  inspection: Inspection,
): boolean {
  const fix = `Write ${formOf(meaning)}`;
  if (parent.type === "NewExpression" && parent.callee === node)
    refuseDynamic(parent, { values: "a method with new", fix }, inspection);
  else if (parent.type === "TaggedTemplateExpression")
    refuseDynamic(parent, { values: "a method as a template tag", fix }, inspection);
  else if (parent.type === "ExpressionStatement" || parent.type === "AwaitExpression")
    refuseDynamic(node, { values: `${meaning.path} is not called`, fix }, inspection);
  else return false;
  return true;
}
