import { createError, getMessage, SkillgateError } from "../../errors.ts";
import { hashValue } from "../../shared/digest.ts";
import type { MethodDefinition } from "../../model/skill.ts";
import { REMOTE_REFUSALS } from "../../shared/remote-errors.ts";
import { NodeGoneError, type RemoteCall } from "./call-machine.ts";
import type { RemoteDevice } from "./device.ts";
import type { ListedSkill } from "./listing.ts";

/**
 * Merges the skills of all machines by name. Of a method that machines describe differently, the first machine's description
 * counts, in the order of the device names.
 */
export function mergeSkills(devices: readonly RemoteDevice[]): readonly ListedSkill[] {
  const merged = new Map<string, ListedSkill>();
  for (const device of devices)
    for (const skill of device.skills) {
      const methods = merged.get(skill.name)?.methods ?? [];
      const names = new Set(methods.map(({ name }) => name));
      const others = skill.methods.filter(({ name }) => !names.has(name));
      merged.set(skill.name, { ...(merged.get(skill.name) ?? skill), methods: [...methods, ...others] });
    }
  return [...merged.values()];
}

/**
 * Calls a method on whichever machine can, the least busy one first, and last those that may be gone. The next machine follows
 * if the machine says that it has not begun, or if the method does no harm when it is made again. Rejects with `NODES_FAILED`
 * if all fail.
 */
export async function callAnyDevice(devices: readonly RemoteDevice[], call: RemoteCall): Promise<unknown> {
  const { readOnly, idempotent } = call.method.metadata ?? {};
  const isRepeatable = readOnly === true || idempotent === true;
  const able = devices
    .filter((device) => canCall(device, call))
    .toSorted(({ machine: a }, { machine: b }) => Number(a.isAbsent) - Number(b.isAbsent) || a.size - b.size);
  const failures: string[] = [];
  for (const device of able) {
    try {
      return await device.call(call, isRepeatable);
    } catch (error) {
      if (call.context.signal.aborted || !(isRepeatable || hasNotBegun(error))) throw error;
      const name = `${device.machine.device}: `;
      failures.push(name + getMessage(error).replace(name, ""));
    }
  }
  const says = failures.length === 0 ? `none has ${call.skill}.${call.method.name} now` : failures.join("; ");
  throw createError("NODES_FAILED", says);
}

function hasNotBegun(error: unknown): boolean {
  if (error instanceof NodeGoneError) return !error.isSent;
  return error instanceof SkillgateError && REMOTE_REFUSALS.has(error.code);
}

/** True if the machine has the method with the same parameters. */
function canCall(
  device: RemoteDevice,
  { skill, method }: { readonly skill: string; readonly method: MethodDefinition },
): boolean {
  const own = device.skills.find(({ name }) => name === skill)?.methods.find(({ name }) => name === method.name);
  return own !== undefined && hashValue(own.input) === hashValue(method.input);
}
