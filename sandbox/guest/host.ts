/**
 * The one way out. `a` is a plain name, `b` JSON, or with a fifth argument the value itself: the answer is then "" or
 * `NESTED` if it is not understood, and nothing has been said. A sixth argument is the promise of the call that is said. Else
 * it answers only `OP.settle`: `b` is a promise, the answer its value, and it throws what the promise is rejected with.
 */
export type HostFunction = (op: number, id: number, a: string, b: unknown, asItIs?: 1, promise?: object) => unknown;

export const host: HostFunction = (globalThis as unknown as { __host: HostFunction }).__host;
Reflect.deleteProperty(globalThis, "__host");
