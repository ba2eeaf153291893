/**
 * The one way out. Text only: `a` is a plain name, `b` JSON. It answers only `OP.wait`, with the JSON of the call's
 * answer.
 */
export type Host = (op: number, id: number, a: string, b: string) => string | undefined;

export const host: Host = (globalThis as unknown as { __host: Host }).__host;
Reflect.deleteProperty(globalThis, "__host");
