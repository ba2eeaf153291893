import type { AnyNode } from "acorn";
import type { Method, Skill } from "../../model/catalog.ts";
import { DEVICE_METHODS } from "./allowlist.ts";
import { type CheckContext, getParent } from "../context.ts";
import { formatCall } from "../suggestions.ts";
import { byType, type ByType } from "../ast/walk.ts";
import { formatMethodAccess, formatSkillAccess } from "../../shared/names/method-paths.ts";

/** The part of `device` or of `devices`, the other machines, that an expression refers to. `method` is `undefined` for a method of `device` itself. */
export type DeviceRef =
  | { readonly kind: "device" }
  | { readonly kind: "devices" }
  | { readonly kind: "node"; readonly name: string }
  | { readonly kind: "skill"; readonly skill: Skill }
  | { readonly kind: "method"; readonly path: string; readonly method: Method | undefined }
  /** `pages` of a method whose results are parts of a list. */
  | { readonly kind: "pages"; readonly path: string; readonly method: Method };

/** A reference that has members: `device`, `devices`, another machine or a skill. */
export type DeviceOwner = Exclude<DeviceRef, { readonly kind: "method" | "pages" }>;

export function isOwner(ref: DeviceRef): ref is DeviceOwner {
  return ref.kind !== "method" && ref.kind !== "pages";
}

export const DEVICE_REF: Extract<DeviceRef, { readonly kind: "device" }> = { kind: "device" };
export const DEVICES_REF: Extract<DeviceRef, { readonly kind: "devices" }> = { kind: "devices" };

/** `device.MathSkill.add` */
export function formatRef(ref: DeviceRef): string {
  switch (ref.kind) {
    case "device":
    case "devices":
      return ref.kind;
    case "node":
      return `devices.${ref.name}`;
    case "skill":
      return formatSkillAccess(ref.skill.name);
    case "method":
      return formatMethodAccess(ref.path);
    case "pages":
      return `${formatMethodAccess(ref.path)}.pages`;
  }
}

/** `device.MathSkill.add(a: number, b: number)` */
export function formatMethodCall({ path, method }: Extract<DeviceRef, { readonly kind: "method" }>): string {
  return method === undefined ? `device.${DEVICE_METHODS.get(path) ?? path}` : formatCall(method);
}

/** True if the node is assigned to or deleted. */
export function isTarget(node: AnyNode, context: CheckContext): boolean {
  const outer = getParent(node, context);
  if (outer === undefined) return false;
  const isInPattern = outer.type === "Property" && getParent(outer, context)?.type === "ObjectPattern";
  return isInPattern || byType(TARGETS, outer, node) === true;
}

/** True if `outer` only tests whether the value of the node exists. */
export function isTest(node: AnyNode, outer: AnyNode): boolean {
  return byType(TESTS, outer, node) === true;
}

const TARGETS: ByType<boolean> = {
  ArrayPattern: () => true,
  AssignmentExpression: ({ left }, node) => left === node,
  AssignmentPattern: ({ left }, node) => left === node,
  ForInStatement: ({ left }, node) => left === node,
  ForOfStatement: ({ left }, node) => left === node,
  RestElement: () => true,
  UnaryExpression: ({ operator }) => operator === "delete",
  UpdateExpression: () => true,
};

const TESTS: ByType<boolean> = {
  BinaryExpression: ({ operator }) => /^[!=]==?$/.test(operator),
  ConditionalExpression: ({ test }, node) => test === node,
  IfStatement: () => true,
  LogicalExpression: ({ operator, left }, node) => operator === "&&" && left === node,
  UnaryExpression: ({ operator }) => operator === "!" || operator === "typeof",
  WhileStatement: () => true,
};
