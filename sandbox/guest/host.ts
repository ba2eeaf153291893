/**
 * The only way out of the guest. `a` is a plain name. `b` is JSON, or with a fifth argument the value itself: the result is
 * then "" or `NESTED` if the host cannot read it, and nothing was sent. A sixth argument is the promise of the call. For
 * `OP.settle`, `b` is a promise; the function returns its value, or throws its rejection. For `OP.format` it
 * returns JSON of a `FormatAnswer`. Other operations return nothing.
 */
export type HostFunction = (op: number, id: number, a: string, b: unknown, asItIs?: 1, promise?: object) => unknown;

export const host: HostFunction = (globalThis as unknown as { __host: HostFunction }).__host;
Reflect.deleteProperty(globalThis, "__host");
