import type { AssignmentProperty, Identifier, MemberExpression } from "acorn";
import { printableName } from "../../shared/source-text.ts";
import { type CheckContext, getParent } from "../context.ts";
import { knownName } from "../ast/literals.ts";

/** Corrects the name of a member: `device.math_skill` → `device.MathSkill`. */
export function correctMember(
  { property, computed }: MemberExpression,
  name: string,
  { report, scopes }: CheckContext,
): void {
  report.replace(property, computed ? JSON.stringify(name) : name);
  report.note(formatNote(knownName(property, computed, scopes), name));
}

/** Corrects the key of a pattern; the variable keeps its name. */
export function correctKey(
  { key, computed, shorthand }: AssignmentProperty,
  name: string,
  { report, scopes }: CheckContext,
): void {
  const was = knownName(key, computed, scopes) ?? "";
  report.replace(key, shorthand ? `${name}: ${was}` : computed ? JSON.stringify(name) : name);
  report.note(formatNote(was, name));
}

/** Replaces a free name; in `{ name }` the key keeps the name. */
export function correctName(node: Identifier, text: string, context: CheckContext): void {
  const parent = getParent(node, context);
  const isKeyToo = parent?.type === "Property" && parent.shorthand;
  context.report.replace(node, isKeyToo ? `${node.name}: ${text}` : text);
  context.report.note(formatNote(node.name, text));
}

function formatNote(was: string | undefined, name: string): string {
  return `${printableName(was ?? "")} was read as ${name}`;
}
