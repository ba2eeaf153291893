import { wellFormed } from "../primordials.ts";
import { ENCODED, percentDecode, percentEncode } from "./percent.ts";

type Pair = [name: string, value: string];

/** A URL's list of parameters, and the function that replaces its content when the query changes. */
export interface OwnedParams {
  readonly params: URLSearchParams;
  readonly read: (query: string) => void;
}

/** Creates the list of a URL; `changed` is called after every change. */
export let createUrlParams: (query: string, changed: (query: string) => void) => OwnedParams;

/** The list of `name=value` behind the question mark of a URL (URL standard, 5 and 6.2). */
export class URLSearchParams {
  static {
    createUrlParams = (query, changed) => {
      const params = new URLSearchParams();
      const read = (text: string): void => {
        params.#pairs = parseForm(text);
      };
      read(query);
      params.#changed = () => changed(params.toString());
      return { params, read };
    };
  }

  #pairs: Pair[];
  #changed: () => void = () => {};

  constructor(init: unknown = "") {
    this.#pairs = toPairs(init);
  }

  get size(): number {
    return this.#pairs.length;
  }

  append(name: unknown, value: unknown): void {
    this.#pairs.push(toPair(name, value));
    this.#changed();
  }

  delete(name: unknown, value?: unknown): void {
    const fits = matcher(name, value);
    this.#pairs = this.#pairs.filter((pair) => !fits(pair));
    this.#changed();
  }

  get(name: unknown): string | null {
    return this.#pairs.find(matcher(name))?.[1] ?? null;
  }

  getAll(name: unknown): string[] {
    return this.#pairs.filter(matcher(name)).map(([, value]) => value);
  }

  has(name: unknown, value?: unknown): boolean {
    return this.#pairs.some(matcher(name, value));
  }

  set(name: unknown, value: unknown): void {
    const pair = toPair(name, value);
    const first = this.#pairs.findIndex(matcher(name));
    if (first < 0) this.#pairs.push(pair);
    else this.#pairs = this.#pairs.filter((other, at) => at <= first || other[0] !== pair[0]).with(first, pair);
    this.#changed();
  }

  sort(): void {
    this.#pairs.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
    this.#changed();
  }

  forEach(visit: (value: string, name: string, params: URLSearchParams) => void, self?: unknown): void {
    for (const [name, value] of this) visit.call(self, value, name, this);
  }

  *entries(): IterableIterator<Pair> {
    for (let at = 0; at < this.#pairs.length; at++) yield [...(this.#pairs[at] as Pair)];
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this.entries()) yield value;
  }

  [Symbol.iterator](): IterableIterator<Pair> {
    return this.entries();
  }

  get [Symbol.toStringTag](): string {
    return "URLSearchParams";
  }

  toString(): string {
    return this.#pairs.map(([name, value]) => `${formEncode(name)}=${formEncode(value)}`).join("&");
  }
}

function toPairs(init: unknown): Pair[] {
  if (init === null) return [];
  if (typeof init !== "object" && typeof init !== "function") return parseForm(`${init as string}`.replace(/^\?/, ""));
  if (!(Symbol.iterator in init)) return Object.entries(init).map(([name, value]) => toPair(name, value));
  return Array.from(init as Iterable<Iterable<unknown>>, (item) => {
    const [name, value, ...more] = [...item];
    if (value === undefined || more.length > 0)
      throw new TypeError("Cannot make URLSearchParams: each item must be a pair of name and value");
    return toPair(name, value);
  });
}

function toPair(name: unknown, value: unknown): Pair {
  return [wellFormed(String(name)), wellFormed(String(value))];
}

function matcher(name: unknown, value?: unknown): (pair: Pair) => boolean {
  const [wantedName, wantedValue] = toPair(name, value);
  return ([name, other]) => name === wantedName && (value === undefined || other === wantedValue);
}

function parseForm(text: string): Pair[] {
  return wellFormed(text)
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const [name, ...value] = part.replaceAll("+", " ").split("=");
      return [percentDecode(name as string), percentDecode(value.join("="))];
    });
}

function formEncode(text: string): string {
  return percentEncode(text, ENCODED.form).replaceAll("%20", "+");
}
