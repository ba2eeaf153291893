import type { Catalog, Method } from "../../model/catalog.ts";
import { hashValue } from "../../shared/digest.ts";
import { ANY_DEVICE, splitRemoteSkill } from "../../shared/names/method-paths.ts";
import type { FoundMethod } from "./format-answer.ts";
import { pushToGroup } from "./method-index.ts";

/** Scores that differ by less are the same: names of devices have different lengths. */
const SAME_SCORE = 0.05;

const HAS_DEVICES = new WeakMap<Catalog, boolean>();

/** True if a catalog has skills of other machines. */
export function hasDevices(catalog: Catalog): boolean {
  const existing = HAS_DEVICES.get(catalog);
  if (existing !== undefined) return existing;
  const found = catalog.skills.some(({ kind }) => kind === "node");
  HAS_DEVICES.set(catalog, found);
  return found;
}

/**
 * Merges the hits of one method on several devices into one, which names the devices. The merged hit is that of `devices.hub`,
 * unless the query fits one device better.
 */
export function mergeDevices(hits: readonly FoundMethod[], catalog: Catalog): readonly FoundMethod[] {
  const groups = new Map<string, FoundMethod[]>();
  for (const hit of hits) {
    pushToGroup(groups, getSharedName(hit.method) ?? hit.method.path, hit);
  }
  const devices = listDevices(catalog);
  return [...groups].map(([key, group]) => {
    const names = devices.get(key);
    const hit = chooseHit(group);
    return names === undefined ? hit : { ...hit, devices: names };
  });
}

/** Chooses among the hits of one method, of which the first is the best. */
function chooseHit(group: readonly FoundMethod[]): FoundMethod {
  const [best] = group as readonly [FoundMethod];
  const shared = group.find(({ method }) => splitRemoteSkill(method.skill)?.device === ANY_DEVICE);
  return shared !== undefined && best.score - shared.score < SAME_SCORE ? shared : best;
}

/** Returns what is the same for a method on all devices, its name and its parameters; `undefined` for a local method. */
function getSharedName({ skill, name, input }: Method): string | undefined {
  const remote = splitRemoteSkill(skill);
  return remote === undefined ? undefined : `${remote.skill}.${name} ${hashValue(input)}`;
}

/** Returns the devices of the methods that several have, or that `devices.hub` can call. */
function listDevices({ skills }: Catalog): ReadonlyMap<string, readonly string[]> {
  const devices = new Map<string, string[]>();
  const shared = new Set<string>();
  for (const { name, methods } of skills) {
    const device = splitRemoteSkill(name)?.device;
    if (device === undefined) continue;
    for (const method of methods) {
      const key = getSharedName(method) ?? "";
      if (device === ANY_DEVICE) shared.add(key);
      else pushToGroup(devices, key, device);
    }
  }
  return new Map([...devices].filter(([key, names]) => shared.has(key) || names.length > 1));
}
