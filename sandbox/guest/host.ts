/**
 * The one way out. `a` is a plain name, `b` JSON, or with a fifth argument the value itself: the answer is then "" or
 * `NESTED` if it is not understood, and nothing has been said. Else it answers only `OP.wait`, with the call's answer or
 * JSON of it.
 */
export type Host = (op: number, id: number, a: string, b: unknown, asItIs?: 1) => unknown;

export const host: Host = (globalThis as unknown as { __host: Host }).__host;
Reflect.deleteProperty(globalThis, "__host");
