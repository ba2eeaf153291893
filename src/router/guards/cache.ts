import { deserialize, serialize } from "node:v8";

import type { MethodDefinition } from "../../model/skill.ts";
import { hashValueFully } from "../digest.ts";
import { type CallAnswer, requireInput, type Guard, type GuardedCall, type Handler } from "../call.ts";

const MAX_BYTES = 64 << 20;
const MAX_ENTRY_BYTES = 4 << 20;

/** About what an entry takes besides its key and its value. */
const ENTRY_BYTES = 500;

interface CacheEntry {
  /** Serialised, so that nobody who gets it can change it for the next. */
  readonly bytes: Buffer;
  /** What it takes of `MAX_BYTES`. */
  readonly size: number;
  readonly until: number;
  /** A method that was loaded anew may answer differently, even in the same version. */
  readonly definition: MethodDefinition;
}

/** Answers again what the same caller asked before, for methods that allow it, for as long as they allow it (X5). */
export function cache(now: () => number): Guard {
  const kept = new Map<string, CacheEntry>();
  let keptBytes = 0;

  function drop(key: string): void {
    keptBytes -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  }

  function keep(key: string, { method }: GuardedCall, value: unknown): void {
    const bytes = serialized(value);
    if (bytes === undefined || bytes.length > MAX_ENTRY_BYTES) return;
    drop(key);
    const size = bytes.length + key.length + ENTRY_BYTES;
    const until = now() + method.metadata.cacheTtlSeconds * 1_000;
    kept.set(key, { bytes, size, until, definition: method.definition });
    keptBytes += size;
    // A map goes through its keys in the order in which they came.
    for (const oldest of kept.keys()) {
      if (keptBytes <= MAX_BYTES) break;
      drop(oldest);
    }
  }

  async function answer(call: GuardedCall, next: Handler): Promise<CallAnswer> {
    const key = createKey(call);
    const found = kept.get(key);
    if (found !== undefined && found.until > now() && found.definition === call.method.definition)
      return { value: deserialize(found.bytes), cached: true };
    const answer = await next(call);
    keep(key, call, answer.value);
    return answer;
  }

  return (next) => (call) => (call.method.metadata.cacheTtlSeconds > 0 ? answer(call, next) : next(call));
}

function createKey(call: GuardedCall): string {
  const { caller, method } = call;
  return JSON.stringify([method.path, method.metadata.version, caller.id, hashValueFully(requireInput(call))]);
}

/** `undefined` for what cannot be copied, functions for example; the call itself is none the worse for it. */
function serialized(value: unknown): Buffer | undefined {
  try {
    return serialize(value);
  } catch {
    return undefined; // Only what cannot be cloned throws here.
  }
}
