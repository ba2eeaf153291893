import { push } from "./serialization.ts";
import { host } from "./host.ts";
import { OP } from "./host-protocol.ts";
import { formatMessage, inspectAll } from "./inspect.ts";
import { create, define, getPrototypeOf, isArray, NativePromise, NativeString, ownKeys, then } from "./primordials.ts";

const LEVELS = { log: 0, info: 0, debug: 0, trace: 0, group: 0, warn: 1, error: 2 } as const;

const counts = create(null) as Record<string, number>;
const startTimes = create(null) as Record<string, number>;
const { now } = Date;

let printed = 0;
let open = 0;
let whenClosed: (() => void) | undefined;

/** Defines `console` and `print`. Prints keep their order, even if a promise in one must settle first. */
export function defineConsole(): void {
  const console = {};
  for (const name of Object.keys(LEVELS) as (keyof typeof LEVELS)[]) {
    define(console, name, (...values: unknown[]) => emit(LEVELS[name], values, formatMessage));
  }
  for (const name of ["dir", "table"]) define(console, name, (value: unknown) => emit(0, [value], inspectAll));
  define(console, "assert", (fact: unknown, ...values: unknown[]) => {
    const format: LineFormat = (all) =>
      all.length === 0 ? "Assertion failed" : `Assertion failed: ${formatMessage(all)}`;
    if (!fact) emit(2, values, format);
  });
  define(console, "count", (label: unknown = "default") => {
    const name = NativeString(label);
    counts[name] = (counts[name] ?? 0) + 1;
    emit(0, [`${name}: ${counts[name]}`], inspectAll);
  });
  define(console, "countReset", (label: unknown = "default") => void delete counts[NativeString(label)]);
  for (const name of ["groupEnd", "clear"]) define(console, name, () => {});
  defineStopwatches(console);
  define(globalThis, "console", console);
  define(globalThis, "print", (...values: unknown[]) => emit(0, values, inspectAll));
}

function defineStopwatches(console: object): void {
  define(console, "time", (label: unknown = "default") => {
    startTimes[NativeString(label)] = now();
  });
  const print = (label: unknown, values: readonly unknown[]): void => {
    const start = startTimes[NativeString(label)];
    if (start !== undefined) emit(0, [`${NativeString(label)}: ${now() - start} ms`, ...values], inspectAll);
  };
  define(console, "timeLog", (label: unknown = "default", ...values: unknown[]) => print(label, values));
  define(console, "timeEnd", (label: unknown = "default") => {
    print(label, []);
    delete startTimes[NativeString(label)];
  });
}

/** Runs `next` when all prints so far were sent to the host. */
export function afterPrinting(next: () => void): void {
  if (open === 0) next();
  else whenClosed = next;
}

export function isAllPrinted(): boolean {
  return open === 0;
}

type LineFormat = typeof inspectAll;

function emit(level: number, values: readonly unknown[], format: LineFormat): void {
  const slot = printed++;
  if (!mustWait(values)) {
    host(OP.log, slot, `${level}`, format(values));
    return;
  }
  open++;
  void then(
    settle(values, 0),
    (ready) => close(slot, level, format(ready as readonly unknown[])),
    (reason) => close(slot, level, inspectAll([reason])),
  );
}

function close(slot: number, level: number, text: string): void {
  host(OP.log, slot, `${level}`, text);
  open--;
  if (open === 0 && whenClosed !== undefined) whenClosed();
}

function mustWait(values: readonly unknown[]): boolean {
  try {
    return holdsPromise(values, 0);
  } catch {
    return false; // a proxy of the program threw; the value is printed as it is
  }
}

function holdsPromise(value: unknown, depth: number): boolean {
  if (value instanceof NativePromise) return true;
  if (!isPlain(value) || depth > 3) return false;
  // The keys of a long list would take more memory than the list.
  const keys = isArray(value) ? undefined : ownKeys(value);
  const length = keys === undefined ? (value as unknown[]).length : keys.length;
  for (let i = 0; i < length && i < 1_000; i++) {
    const property = Object_getOwnPropertyDescriptor(value, keys === undefined ? i : (keys[i] as string));
    if (property !== undefined && "value" in property && holdsPromise(property.value, depth + 1)) return true;
  }
  return false;
}

/** Copies a value, with each promise replaced by the value that it settles to. */
async function settle(value: unknown, depth: number): Promise<unknown> {
  if (value instanceof NativePromise) return settle(await value, depth);
  if (!isPlain(value) || depth > 3 || !holdsPromise(value, depth)) return value;
  if (isArray(value)) {
    const list: unknown[] = [];
    for (let i = 0; i < value.length; i++) push(list, await settle(value[i], depth + 1));
    return list;
  }
  const copy = create(null) as Record<PropertyKey, unknown>;
  const keys = ownKeys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as keyof typeof value;
    copy[key] = await settle(value[key], depth + 1);
  }
  return copy;
}

function isPlain(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (isArray(value)) return true;
  const prototype: unknown = getPrototypeOf(value);
  return prototype === null || prototype === ObjectPrototype;
}

const ObjectPrototype = Object.prototype;
const Object_getOwnPropertyDescriptor = Object.getOwnPropertyDescriptor;
