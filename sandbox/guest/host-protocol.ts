/** Operations of the one host function; the number is its first argument. */
export const OP = { call: 0, settle: 1, log: 2, done: 3, fail: 4, timer: 5, misread: 6, format: 7 } as const;

/** Only name of an object that represents a date in JSON; its value is the ISO text. */
export const DATE_TAG = "$date";

/** Maximum nesting of lists and objects in a value that crosses the boundary. */
export const MAX_DEPTH = 500;

/** The host's answer to a value that is nested too deeply. */
export const NESTED = "nested";
