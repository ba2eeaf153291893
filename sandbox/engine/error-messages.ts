import type { StopReason } from "../contract.ts";

/** Error of the engine for a value that is nested too deeply to write. */
export const STACK_OVERFLOW = "InternalError: stack overflow";

/** Messages for limits that the engine reaches itself. */
const LIMITS: ReadonlyMap<string, StopReason> = new Map([
  ["stack overflow", "STACK_LIMIT"],
  ["out of memory", "MEMORY_LIMIT"],
]);

/** Returns the limit of which an error tells, if any. Name and message may be forged. */
export function toEngineLimit(name: string, message: string): StopReason | undefined {
  return name === "InternalError" ? LIMITS.get(message) : undefined;
}

/** Messages of the engine for values of an unexpected kind, each with a hint on how to inspect the value. */
const HINTS: readonly (readonly [message: RegExp, hint: string])[] = [
  [
    /^value is not iterable$|^not an? (?:array|iterable)/,
    "The value is not iterable; inspect it with print(value), as the list may be one of its members",
  ],
  [
    /'Symbol\.iterator' of (?:undefined|null)$/,
    "The value is undefined or null, not a list; inspect it with print(value)",
  ],
  [/^cannot convert to object$/, "The value is undefined or null, not an object; inspect it with print(value)"],
  [/^circular reference$/, "The value has a circular reference; return only the members that are needed"],
  [
    /^cannot (?:read|set) property (?:.* )?of (?:undefined|null)$/,
    "The value before the dot is undefined or null; list the members of its parent with print(Object.keys(value))",
  ],
  [/^not a function$/, "The called value is not a function; inspect it with print(value)"],
  [
    /^unexpected (?:end of JSON|token|data at the end|number)|^expecting (?:property name|'[:,\]}]')/i,
    "The text is not JSON; inspect it with print(text). Methods return values, which need no parsing unless they are strings",
  ],
  [
    /^class constructors must be invoked with 'new'$|^must be called with new$/,
    "Write new before the name of the class",
  ],
  [/ is not initialized$/, "The name is used before its declaration; move the declaration up"],
  [/ is read-only$/, "The name is a constant; declare it with let, or assign to a copy"],
  [/^empty array$/, "The list is empty; pass an initial value to reduce as its second argument"],
  [
    /^invalid (?:array length|array index|repeat count|code point|number of digits)$|^bad normalization form$/,
    "The argument is out of range; inspect it with print(value)",
  ],
  [
    /bigint/i,
    "A BigInt does not mix with other numbers; convert it with Number(value), or with String(value) for text and JSON",
  ],
  [
    /^not an object$|^invalid '(?:in|instanceof)'/,
    "The operation needs an object or a class; inspect the value with print(value)",
  ],
  [
    /^expecting hex digit$/,
    "The text has a % that does not start an escape, so it is not URI-encoded; use it as it is",
  ],
  [
    /^Date value is NaN$/,
    "The date is invalid; inspect the text it is made from with print(text). ISO 8601 is supported",
  ],
  [/^cannot convert symbol to/, "A symbol is not a string; use symbol.description"],
  [/^invalid value used as Weak/, "Only objects can be keys of a WeakMap or members of a WeakSet; use a Map or a Set"],
  [/ is not extensible$|^cannot delete property/, "The value is frozen; change a copy, { ...value } or [...value]"],
  [/ is not a constructor$/, "The value after new or extends is not a class; inspect it with print(value)"],
  [/^expecting '\)'$/, "The regular expression is incomplete; write a literal bracket as \\( or \\)"],
];

/** Returns a hint on how to fix the cause of a message of the engine; empty for any other message. */
export function getEngineHint(message: string): string {
  return HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? "";
}

const POSITION = /program\.js:(\d{1,7}):(\d{1,7})/;

/** Returns the part of a stack that `findProgramPosition` reads. */
export function cutStack(stack: string): string | undefined {
  return POSITION.exec(stack)?.[0];
}

/**
 * Finds the first position of the program in a stack, counted in the code of the program: lines from 1, columns from 0 in
 * UTF-16 units. One line stands before the code, and the engine counts columns from 1, in characters. The stack may be forged.
 */
export function findProgramPosition(
  stack: string,
  code: string,
): { readonly line: number; readonly column: number } | undefined {
  const found = POSITION.exec(stack);
  if (found === null) return undefined;
  const line = Number(found[1]) - 1;
  const text = code.split("\n", line)[line - 1];
  if (text === undefined) return undefined;
  const before = Array.from(text.slice(0, 2 * Number(found[2]))).slice(0, Number(found[2]) - 1);
  return { line, column: before.join("").length };
}
