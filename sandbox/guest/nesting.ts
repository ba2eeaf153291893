import { MAX_DEPTH } from "./host-protocol.ts";
import { create, define, NativeTypeError, ownKeys } from "./primordials.ts";

/** Tests whether a value has more levels than `MAX_DEPTH`. Reading it may run code of the program. */
export function isTooDeep(value: unknown): boolean {
  const pending = create(null) as Record<number, unknown>;
  const depths = create(null) as Record<number, number>;
  pending[0] = value;
  depths[0] = 1;
  for (let top = 0; top >= 0;) {
    const current = pending[top];
    const depth = depths[top--] as number;
    if (typeof current !== "object" || current === null) continue;
    if (depth > MAX_DEPTH) return true;
    const keys = ownKeys(current);
    for (let i = 0; i < keys.length; i++) {
      pending[++top] = (current as Record<PropertyKey, unknown>)[keys[i] as string];
      depths[top] = depth + 1;
    }
  }
  return false;
}

export function nestingError(): Error {
  const error = new NativeTypeError(
    `The value is nested too deeply: it has more than ${MAX_DEPTH} levels (NESTING_LIMIT)`,
  );
  define(error, "code", "NESTING_LIMIT");
  return error;
}
