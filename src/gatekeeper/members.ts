import type { AnyNode } from "acorn";
import type { Skill } from "../model/catalog.ts";
import { DEVICE_METHOD_NAMES } from "./allowlist.ts";
import { type Inspection, parentOf } from "./inspection.ts";
import { isTest, type Meaning } from "./meaning.ts";
import { inOtherStyle, wordsForAskedSkill, wordsForUnknownMethod, wordsForUnknownSkill } from "./names.ts";
import type { Words } from "./report.ts";
import { literalName } from "./walk.ts";

/** What has members. */
type Owner = Exclude<Meaning, { readonly kind: "method" }>;

interface Found {
  /** As it is in the catalog; the snippet may have written it in another style. */
  readonly name: string;
  readonly meaning: Meaning;
}

/** What a name of `device` or of a skill stands for. Unknown ones are refused at once, and nothing of them is followed. */
export function findMember(name: string, owner: Owner, at: AnyNode, inspection: Inspection): Found | undefined {
  if (owner.kind === "device") return findOnDevice(name, at, inspection);
  return findMethod(name, owner.skill, placeOf(at), inspection);
}

export function findMethod(name: string, skill: Skill, place: AnyNode, inspection: Inspection): Found | undefined {
  const { questions, report } = inspection;
  const { catalog } = questions;
  const known = catalog.method(`${skill.name}.${name}`) === undefined ? inOtherStyle(name, skill) : name;
  const method = known === undefined ? undefined : catalog.method(`${skill.name}.${known}`);
  if (method === undefined) {
    report.refuse("METHOD_UNKNOWN", place, () => wordsForUnknownMethod(name, skill.name, inspection));
    return undefined;
  }
  if (!questions.mayCall(method.path)) {
    report.refuse("PERMISSION_MISSING", place, () => ({ values: method.path }));
    return undefined;
  }
  return { name: method.name, meaning: { kind: "method", path: method.path, method } };
}

function findOnDevice(name: string, at: AnyNode, inspection: Inspection): Found | undefined {
  const { questions, report } = inspection;
  const { catalog } = questions;
  const own = catalog.skill(name) === undefined ? DEVICE_METHOD_NAMES.get(name) : undefined;
  if (own !== undefined) return { name: own, meaning: { kind: "method", path: own, method: undefined } };
  const known = catalog.skill(name) === undefined ? inOtherStyle(name, catalog) : name;
  const skill = known === undefined ? undefined : catalog.skill(known);
  if (skill !== undefined) return { name: skill.name, meaning: { kind: "skill", skill } };
  if (questions.isDisabled?.(name) === true)
    report.refuse("SKILL_DISABLED", placeOf(at), () => ({ values: `Skill '${name}' is disabled` }));
  else report.refuse("SKILL_UNKNOWN", placeOf(at), () => wordsFor(name, at, inspection));
  return undefined;
}

/** Where only matters whether there is such a skill, other words help than where it is used. */
function wordsFor(name: string, at: AnyNode, inspection: Inspection): Words {
  const outer = at.type === "MemberExpression" ? parentOf(at, inspection) : undefined;
  if (outer !== undefined && isTest(at, outer)) return wordsForAskedSkill(name, inspection);
  const isOwner = outer?.type === "MemberExpression" && outer.object === at;
  return wordsForUnknownSkill(name, isOwner ? literalName(outer.property, outer.computed) : undefined, inspection);
}

function placeOf(at: AnyNode): AnyNode {
  return at.type === "MemberExpression" ? at.property : at;
}
