import type { AnyNode } from "acorn";
import type { Catalog, Skill } from "../../model/catalog.ts";
import { splitRemoteSkill, toDeviceName } from "../../shared/names/method-paths.ts";
import { printableName } from "../../shared/source-text.ts";
import { suggestNames } from "../../shared/suggest.ts";
import { DEVICE_METHOD_NAMES } from "./allowlist.ts";
import { type CheckContext, getParent } from "../context.ts";
import { type DeviceOwner, isTest, type DeviceRef } from "./device-reference.ts";
import {
  findAbbreviated,
  findOtherStyle,
  describeTestedSkill,
  describeUnknownMethod,
  describeUnknownSkill,
} from "../suggestions.ts";
import type { MessageParts } from "../report.ts";
import { literalName } from "../ast/walk.ts";

interface ResolvedMember {
  /** The name in the catalog; the program may write it in another style. */
  readonly name: string;
  readonly ref: DeviceRef;
}

/** Resolves a member of `device` or of a skill. Refuses an unknown member and returns `undefined`. */
export function findMember(
  name: string,
  owner: DeviceOwner,
  at: AnyNode,
  context: CheckContext,
): ResolvedMember | undefined {
  switch (owner.kind) {
    case "device":
      return findOnDevice(name, at, context);
    case "devices":
      return findNode(name, at, context);
    case "node":
      return findOnNode(name, owner.name, at, context);
    case "skill":
      return findMethod(name, owner.skill, getNameNode(at), context);
  }
}

const NODE_NAMES = new WeakMap<Catalog, ReadonlySet<string>>();

/** The names of the other machines that offer a skill of the catalog. */
export function getNodeNames(catalog: Catalog): ReadonlySet<string> {
  const cached = NODE_NAMES.get(catalog);
  if (cached !== undefined) return cached;
  const names = new Set(catalog.skills.flatMap(({ name }) => splitRemoteSkill(name)?.device ?? []));
  NODE_NAMES.set(catalog, names);
  return names;
}

function findNode(name: string, at: AnyNode, context: CheckContext): ResolvedMember | undefined {
  const names = getNodeNames(context.host.catalog);
  const match = names.has(name) ? name : toDeviceName(name);
  if (names.has(match)) return { name: match, ref: { kind: "node", name: match } };
  context.report.refuse("DEVICE_UNKNOWN", getNameNode(at), () => ({
    values: printableName(name),
    fix: `Use one of ${[...names]
      .slice(0, MAX_SHOWN_NODES)
      .map((each) => `devices.${each}`)
      .join(", ")}`,
    suggestions: suggestNames(name, [...names]),
  }));
  return undefined;
}

const MAX_SHOWN_NODES = 8;

function findOnNode(name: string, node: string, at: AnyNode, context: CheckContext): ResolvedMember | undefined {
  const { catalog } = context.host;
  const skill = catalog.skill(`${node}.${name}`) ?? catalog.skill(findOtherStyle(`${node}.${name}`, catalog) ?? "");
  const remote = skill && splitRemoteSkill(skill.name);
  if (skill !== undefined && remote?.device === node) return { name: remote.skill, ref: { kind: "skill", skill } };
  context.report.refuse("SKILL_UNKNOWN", getNameNode(at), () => describeMissing(`${node}.${name}`, at, context));
  return undefined;
}

export function findMethod(
  name: string,
  skill: Skill,
  node: AnyNode,
  context: CheckContext,
): ResolvedMember | undefined {
  const { host, report } = context;
  const { catalog } = host;
  const knownName = catalog.method(`${skill.name}.${name}`) === undefined ? findOtherStyle(name, skill) : name;
  const method = knownName === undefined ? undefined : catalog.method(`${skill.name}.${knownName}`);
  if (method === undefined) {
    const unavailable = host.whyUnavailable?.(`${skill.name}.${name}`);
    if (unavailable !== undefined) report.refuse(unavailable.code, node, () => ({ values: unavailable.message }));
    else report.refuse("METHOD_UNKNOWN", node, () => describeUnknownMethod(name, skill.name, context));
    return undefined;
  }
  const refusal = host.findRefusal(method);
  if (refusal !== undefined) {
    report.refuse(refusal.code, node, () => ({ values: refusal.values }));
    return undefined;
  }
  return { name: method.name, ref: { kind: "method", path: method.path, method } };
}

function findOnDevice(name: string, at: AnyNode, context: CheckContext): ResolvedMember | undefined {
  const { host, report } = context;
  const { catalog } = host;
  const own = catalog.skill(name) === undefined ? DEVICE_METHOD_NAMES.get(name) : undefined;
  if (own !== undefined) return { name: own, ref: { kind: "method", path: own, method: undefined } };
  const skillName =
    catalog.skill(name) === undefined ? (findOtherStyle(name, catalog) ?? findAbbreviated(name, catalog)) : name;
  const skill = skillName === undefined ? undefined : catalog.skill(skillName);
  if (skill !== undefined && splitRemoteSkill(skill.name) === undefined)
    return { name: skill.name, ref: { kind: "skill", skill } };
  if (getNodeNames(catalog).has(name)) return { name, ref: { kind: "node", name } };
  const unavailable = host.whyUnavailable?.(name);
  if (unavailable !== undefined)
    report.refuse(unavailable.code, getNameNode(at), () => ({ values: unavailable.message }));
  else report.refuse("SKILL_UNKNOWN", getNameNode(at), () => describeMissing(name, at, context));
  return undefined;
}

/** Describes a missing skill: a test for the skill gets another fix than a use. */
function describeMissing(name: string, at: AnyNode, context: CheckContext): MessageParts {
  const outer = at.type === "MemberExpression" ? getParent(at, context) : undefined;
  if (outer !== undefined && isTest(at, outer)) return describeTestedSkill(name, context);
  const isOwner = outer?.type === "MemberExpression" && outer.object === at;
  return describeUnknownSkill(name, isOwner ? literalName(outer.property, outer.computed) : undefined, context);
}

function getNameNode(at: AnyNode): AnyNode {
  return at.type === "MemberExpression" ? at.property : at;
}
