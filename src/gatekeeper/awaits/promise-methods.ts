/** The methods of promises. */
export const THEN: ReadonlySet<string> = new Set(["then", "catch", "finally"]);

/** Methods that return one element of a collection. */
export const TAKING: ReadonlySet<string> = new Set(["at", "get", "pop", "shift"]);

/** The functions of `Promise` that take a list of promises. */
export const COMBINATORS: ReadonlySet<string> = new Set(["all", "allSettled", "race", "any"]);
