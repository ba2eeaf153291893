import { deleteOldest } from "../../shared/lru.ts";
import { deserialize, serialize } from "node:v8";

import type { MethodDefinition } from "../../model/skill.ts";
import { hashValueFully } from "../../shared/digest.ts";
import { type CallAnswer, requireInput, type Guard, type GuardedCall, type Handler } from "../call.ts";

const MAX_BYTES = 64 << 20;
const MAX_ENTRY_BYTES = 4 << 20;

/** Approximate overhead of an entry, without its key and its value. */
const ENTRY_BYTES = 500;

interface CachedResult {
  /** The serialised value, so that one reader cannot change it for the next. */
  readonly bytes: Buffer;
  /** Its share of `MAX_BYTES`. */
  readonly size: number;
  readonly until: number;
  /** A reloaded method may answer differently, even in the same version. */
  readonly definition: MethodDefinition;
}

/** Caches results per caller, input and request values, for methods that allow it and for the time that they allow. */
export function cache(now: () => number): Guard {
  const entries = new Map<string, CachedResult>();
  let entryBytes = 0;

  function drop(key: string): void {
    entryBytes -= entries.get(key)?.size ?? 0;
    entries.delete(key);
  }

  function keep(key: string, { method }: GuardedCall, value: unknown): void {
    const bytes = serialized(value);
    if (bytes === undefined || bytes.length > MAX_ENTRY_BYTES) return;
    drop(key);
    const size = bytes.length + key.length + ENTRY_BYTES;
    const until = now() + method.metadata.cacheTtlSeconds * 1_000;
    entries.set(key, { bytes, size, until, definition: method.definition });
    entryBytes += size;
    deleteOldest(entries, () => entryBytes > MAX_BYTES, drop);
  }

  async function answer(call: GuardedCall, next: Handler): Promise<CallAnswer> {
    const key = createKey(call);
    const found = entries.get(key);
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
  const input = hashValueFully(requireInput(call));
  return JSON.stringify([method.path, method.metadata.version, caller.id, input, call.requestKey() ?? ""]);
}

/** Returns `undefined` for a value that cannot be cloned, such as a function; the call itself still succeeds. */
function serialized(value: unknown): Buffer | undefined {
  try {
    return serialize(value);
  } catch {
    return undefined; // Only values that cannot be cloned throw here.
  }
}
