/**
 * `structuredClone` of the HTML standard, for everything that a program can hold. Without recursion, so that deep
 * values are safe. Objects of classes that it does not know become plain objects, as everywhere.
 */
export function structuredClone(value: unknown, options?: { readonly transfer?: Iterable<unknown> }): unknown {
  if ([...(options?.transfer ?? [])].length > 0)
    throw notCloneable("with transfer, which is not available here: leave it out");
  const copies = new Map<object, object>();
  const unfilled: (() => void)[] = [];
  const copy = (original: unknown): unknown => {
    if (typeof original === "symbol" || typeof original === "function") throw notCloneable(`a ${typeof original}`);
    if (typeof original !== "object" || original === null) return original;
    const existing = copies.get(original);
    if (existing !== undefined) return existing;
    const kind = KINDS.find(({ of }) => original instanceof of) ?? PLAIN;
    const shell = kind.make(original, copy);
    copies.set(original, shell);
    unfilled.push(() => kind.fill?.(original, shell, copy));
    return shell;
  };
  const result = copy(value);
  for (const fillNext of unfilled) fillNext();
  return result;
}

type Copy = (original: unknown) => unknown;

/** How objects of one kind are copied: first without their members, so that a cycle finds the copy of its start. */
interface CloneKind {
  readonly of: abstract new (...args: never[]) => object;
  make(original: object, copy: Copy): object;
  fill?(original: object, shell: object, copy: Copy): void;
}

const PLAIN: CloneKind = { of: Object, make: () => ({}), fill: copyMembers };

/** The first matching row is used. */
const KINDS: readonly CloneKind[] = [
  { of: Array, make: (list: unknown[]) => Object.assign([], { length: list.length }), fill: copyMembers },
  { of: Date, make: (date: Date) => new Date(date.getTime()) },
  { of: RegExp, make: (pattern: RegExp) => new RegExp(pattern.source, pattern.flags) },
  { of: Map, make: () => new Map(), fill: copyEntries },
  { of: Set, make: () => new Set(), fill: copyItems },
  { of: ArrayBuffer, make: (buffer: ArrayBuffer) => buffer.slice(0) },
  { of: DataView, make: cloneDataView },
  { of: Object.getPrototypeOf(Uint8Array) as typeof Uint8Array, make: cloneTypedArray },
  { of: Error, make: cloneError },
  { of: Boolean, make: cloneBoxed },
  { of: Number, make: cloneBoxed },
  { of: String, make: cloneBoxed },
  { of: BigInt as unknown as ObjectConstructor, make: cloneBoxed },
  { of: Symbol as unknown as ObjectConstructor, make: refusal("a symbol") },
  { of: Promise, make: refusal("a promise") },
  { of: WeakMap, make: refusal("a WeakMap") },
  { of: WeakSet, make: refusal("a WeakSet") },
];

const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError } as const;

function copyMembers(original: object, shell: object, copy: Copy): void {
  for (const key of Object.keys(original)) set(shell, key, copy(original[key as keyof typeof original]), true);
}

function copyEntries(original: Map<unknown, unknown>, shell: Map<unknown, unknown>, copy: Copy): void {
  for (const [key, value] of original) shell.set(copy(key), copy(value));
}

function copyItems(original: Set<unknown>, shell: Set<unknown>, copy: Copy): void {
  for (const item of original) shell.add(copy(item));
}

function cloneDataView(view: DataView, copy: Copy): DataView {
  return new DataView(copy(view.buffer) as ArrayBuffer, view.byteOffset, view.byteLength);
}

/** A typed array over the copy of its buffer, which other views may share. */
function cloneTypedArray(view: Uint8Array, copy: Copy): object {
  const name = view[Symbol.toStringTag]; // the view's real class, whatever it inherits from
  const kind = (globalThis as unknown as Record<string, typeof Uint8Array>)[name] ?? Uint8Array;
  return new kind(copy(view.buffer) as ArrayBuffer, view.byteOffset, view.length);
}

function cloneError(error: Error, copy: Copy): Error {
  const kind = Object.hasOwn(ERRORS, error.name) ? ERRORS[error.name as keyof typeof ERRORS] : Error;
  const shell = new kind(error.message);
  set(shell, "stack", String(error.stack), false);
  if (Object.hasOwn(error, "cause")) set(shell, "cause", copy(error.cause), false);
  return shell;
}

function cloneBoxed(boxed: object): object {
  return Object(boxed.valueOf()) as object;
}

function refusal(what: string): () => never {
  return () => {
    throw notCloneable(what);
  };
}

function set(target: object, name: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, name, { value, enumerable, writable: true, configurable: true });
}

function notCloneable(what: string): Error {
  return Object.assign(new TypeError(`Cannot clone ${what}`), { name: "DataCloneError" });
}
