import { getMessage, sentence, SkillgateError } from "../../errors.ts";
import { hashValue } from "../../shared/digest.ts";
import type { MethodDefinition } from "../../model/skill.ts";
import { REMOTE_REFUSALS } from "../../shared/remote-errors.ts";
import type { ListedSkill } from "./listing.ts";
import { NodeGoneError, type Peer, type RemoteCall } from "./peer.ts";

/**
 * Merges the skills of all machines by name. Of a method that machines describe differently, the first machine's description
 * counts, in the order of the device names.
 */
export function mergeSkills(peers: readonly Peer[]): readonly ListedSkill[] {
  const merged = new Map<string, ListedSkill>();
  for (const peer of peers)
    for (const skill of peer.skills) {
      const methods = merged.get(skill.name)?.methods ?? [];
      const names = new Set(methods.map(({ name }) => name));
      const others = skill.methods.filter(({ name }) => !names.has(name));
      merged.set(skill.name, { ...(merged.get(skill.name) ?? skill), methods: [...methods, ...others] });
    }
  return [...merged.values()];
}

/**
 * Calls a method on whichever machine can, the least busy one first. The next machine follows if the call did not begin, or
 * if the method does no harm when it is made again. Rejects with `NODES_FAILED` if all fail.
 */
export async function callAnyPeer(peers: readonly Peer[], call: RemoteCall): Promise<unknown> {
  const able = peers
    .filter((peer) => peer.gone === undefined && canCall(peer, call))
    .toSorted((a, b) => a.callsInProgress - b.callsInProgress);
  const failures: string[] = [];
  for (const peer of able) {
    try {
      return await peer.call(call);
    } catch (error) {
      if (call.context.signal.aborted || !mayRepeat(error, call.method)) throw error;
      failures.push(`${peer.identity.device}: ${getMessage(error)}`);
    }
  }
  const says = failures.length === 0 ? `none has ${call.skill}.${call.method.name} now` : failures.join("; ");
  throw new SkillgateError("NODES_FAILED", sentence("NODES_FAILED", says));
}

function mayRepeat(error: unknown, { metadata = {} }: MethodDefinition): boolean {
  if (error instanceof NodeGoneError && !error.hasBegun) return true;
  if (error instanceof SkillgateError && REMOTE_REFUSALS.has(error.code)) return true;
  return metadata.readOnly === true || metadata.idempotent === true;
}

/** True if the machine has the method with the same parameters. */
function canCall(peer: Peer, { skill, method }: RemoteCall): boolean {
  const own = peer.skills.find(({ name }) => name === skill)?.methods.find(({ name }) => name === method.name);
  return own !== undefined && hashValue(own.input) === hashValue(method.input);
}
