import { isMemberName } from "./skill-names.ts";

/** The parts of a path. The skill of another machine has its device in front: `kitchen_pc.MusicSkill`. */
export interface PathParts {
  readonly skill: string;
  /** Empty if the path names a skill. */
  readonly method: string;
}

/** Names the parts of a method that one call has: `TrackerGraph.mutate:addLabel,createIssue`; the path itself without parts. */
export function formatPartsPath(path: string, partNames: readonly string[]): string {
  if (partNames.length === 0) return path;
  const prefix = `${splitPath(path).method}:`;
  const own = partNames.map((name) => (name.startsWith(prefix) ? name.slice(prefix.length) : name));
  return `${path}:${[...new Set(own)].toSorted().join(",")}`;
}

/** Splits `Skill.method` or `device.Skill.method` at its last dot: the name of a method has none. */
export function splitPath(path: string): PathParts {
  const dot = path.lastIndexOf(".");
  return dot < 0 ? { skill: path, method: "" } : { skill: path.slice(0, dot), method: path.slice(dot + 1) };
}

/** Returns the device of a remote skill, and its name there; `undefined` for a local skill. */
export function splitRemoteSkill(name: string): { readonly device: string; readonly skill: string } | undefined {
  const dot = name.indexOf(".");
  return dot < 0 ? undefined : { device: name.slice(0, dot), skill: name.slice(dot + 1) };
}

/** Writes a skill as code: `device.MathSkill`, or `devices.kitchen_pc.MusicSkill`. */
export function formatSkillAccess(skill: string): string {
  return `${skill.includes(".") ? "devices" : "device"}.${skill}`;
}

/** Writes a method as code: `device.MathSkill.add`, or `devices.kitchen_pc.MusicSkill.play`. */
export function formatMethodAccess(path: string): string {
  return `${path.indexOf(".") === path.lastIndexOf(".") ? "device" : "devices"}.${path}`;
}

/** True for a name that a catalog accepts for a skill: a member name, behind a device name if it is remote. */
export function isSkillName(name: string): boolean {
  const remote = splitRemoteSkill(name);
  return remote === undefined ? isMemberName(name) : isDeviceName(remote.device) && isMemberName(remote.skill);
}

/** The device name that stands for whichever machine can make a call. No machine can have it. */
export const ANY_DEVICE = "hub";

const MAX_DEVICE_NAME_UNITS = 64;

/** True for a text that `toDeviceName` returns. */
export function isDeviceName(name: string): boolean {
  return name.length <= MAX_DEVICE_NAME_UNITS && /^[a-z0-9]+(?:_[a-z0-9]+)*$/.test(name);
}

/**
 * Converts the name of a machine to the name of a device (O3): `Kitchen PC` → `kitchen_pc`. A name without an ASCII
 * letter or digit gives an empty text.
 */
export function toDeviceName(name: string): string {
  return name
    .slice(0, 4 * MAX_DEVICE_NAME_UNITS)
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\s\p{Dash_Punctuation}_]+/gu, "_")
    .replace(/[^a-z0-9_]/g, "")
    .replace(/_+/g, "_")
    .slice(0, MAX_DEVICE_NAME_UNITS)
    .replace(/^_|_$/g, "");
}
