import type { AssignmentProperty, Identifier, MemberExpression } from "acorn";
import { shown } from "../model/frame.ts";
import { type Inspection, parentOf } from "./inspection.ts";
import { knownName } from "./literals.ts";

/** Writes the right name for a member: `device.math_skill` → `device.MathSkill`. */
export function correctMember(
  { property, computed }: MemberExpression,
  name: string,
  { report, scopes }: Inspection,
): void {
  report.replace(property, computed ? JSON.stringify(name) : name);
  report.note(noteOf(knownName(property, computed, scopes), name));
}

/** Writes the right name for a key of a pattern; the variable keeps its own. */
export function correctKey(
  { key, computed, shorthand }: AssignmentProperty,
  name: string,
  { report, scopes }: Inspection,
): void {
  const was = knownName(key, computed, scopes) ?? "";
  report.replace(key, shorthand ? `${name}: ${was}` : computed ? JSON.stringify(name) : name);
  report.note(noteOf(was, name));
}

/** Writes what a free name stands for; in `{ name }` it is a key as well. */
export function correctName(node: Identifier, text: string, inspection: Inspection): void {
  const parent = parentOf(node, inspection);
  const isKeyToo = parent?.type === "Property" && parent.shorthand;
  inspection.report.replace(node, isKeyToo ? `${node.name}: ${text}` : text);
  inspection.report.note(noteOf(node.name, text));
}

function noteOf(was: string | undefined, name: string): string {
  return `${shown(was ?? "")} was read as ${name}`;
}
