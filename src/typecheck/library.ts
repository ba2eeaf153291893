import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";

/** The builtins that a program has: the newest edition that the engine knows, or that of TypeScript 5.9, which has no 2025. */
const BUILTINS = ["lib.es2025.d.ts", "lib.esnext.d.ts"];

/** Declarations of the globals that are not builtins of the language. */
const GLOBALS = `
declare function print(...values: any[]): void;
declare const console: Record<
  | "assert" | "clear" | "count" | "countReset" | "debug" | "dir" | "error" | "group" | "groupEnd" | "info" | "log"
  | "table" | "time" | "timeEnd" | "timeLog" | "trace" | "warn",
  (...values: any[]) => void
>;
declare function setTimeout(callback: (...values: any[]) => void, milliseconds?: number, ...values: any[]): number;
declare function setInterval(callback: (...values: any[]) => void, milliseconds?: number, ...values: any[]): number;
declare function clearTimeout(timer?: number): void;
declare function clearInterval(timer?: number): void;
interface String {
  readonly lines: string[];
}
declare function queueMicrotask(callback: () => void): void;
declare function structuredClone<T>(value: T, options?: { transfer?: Iterable<any> }): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array;
  encodeInto(text: string, bytes: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(encoding?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: string;
  decode(bytes?: ArrayBuffer | ArrayBufferView, options?: { stream?: boolean }): string;
}
declare class URLSearchParams {
  constructor(init?: string | Iterable<[string, string]> | Record<string, string> | URLSearchParams);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string, value?: string): void;
  get(name: string): string;
  getAll(name: string): string[];
  has(name: string, value?: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(callback: (value: string, name: string, params: URLSearchParams) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  toString(): string;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}
declare class URL {
  static canParse(url: string | URL, base?: string | URL): boolean;
  static parse(url: string | URL, base?: string | URL): URL;
  constructor(url: string | URL, base?: string | URL);
  hash: string;
  host: string;
  hostname: string;
  href: string;
  readonly origin: string;
  password: string;
  pathname: string;
  port: string;
  protocol: string;
  search: string;
  readonly searchParams: URLSearchParams;
  username: string;
  toString(): string;
  toJSON(): string;
}

/** The gatekeeper writes these where a program waits for a value. */
declare function __waitFor<Value>(value: Value): Awaited<Value>;
declare function __waitForAll<Value>(value: Value): Awaited<Value>;
declare function __waitTested<Callback>(callback: Callback): Callback;
declare function __waitSeek(holder: any, name: string, ...args: any[]): any;
declare function __waitForCalls(atEnd: boolean): void;
declare function __waitThrown<Value>(value: Value): Value;

/** The result of a method: a promise, or its value where \`await\` was forgotten. */
type __Answer<T> = T & Promise<T>;
`;

/**
 * Everything that is there without a declaration, as one file: the compiler takes in one large file faster than eighty
 * that add to each other's types.
 */
export function libraryText(): string {
  const folder = dirname(ts.getDefaultLibFilePath({}));
  const texts = new Map<string, string>();
  addFile(BUILTINS.find((name) => existsSync(join(folder, name))) as string, folder, texts);
  return [...texts.values(), GLOBALS].join("\n");
}

/** Adds a file and the files that it references. The only file that is a module is skipped: it would make all of them one. */
function addFile(name: string, folder: string, texts: Map<string, string>): void {
  if (texts.has(name)) return;
  const text = readFileSync(join(folder, name), "utf8");
  texts.set(name, /^export \{\};/m.test(text) ? "" : text.replace(/^\/\/\/.*$/gm, ""));
  for (const [, referred] of text.matchAll(/^\/\/\/ <reference lib="([\w.]+)" \/>/gm)) {
    addFile(`lib.${referred}.d.ts`, folder, texts);
  }
}
