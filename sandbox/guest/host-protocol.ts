/** What the guest can tell the host: the numbers are the first argument of the one host function. */
export const OP = { call: 0, settle: 1, log: 2, done: 3, fail: 4, timer: 5 } as const;

/** The one name of an object that is a date in JSON: its value is the ISO text. */
export const DATE_TAG = "$date";

/** How deeply lists and objects may be nested in a value that crosses a boundary. */
export const MAX_DEPTH = 500;

/** What the host answers to a value that is nested too deeply to be read as it is. */
export const NESTED = "nested";
