import type { CatalogAnswer, CallableMethod } from "../contract.ts";
import {
  apply,
  create,
  data,
  define,
  freeze,
  getPrototypeOf,
  NativeString,
  NativeTypeError,
  setPrototypeOf,
} from "./primordials.ts";
import { push, teach } from "./serialization.ts";

/** Creates the function that calls a method by its path. */
type MakeCall = (path: string) => object;

/** Prototypes of lists and of texts with members. Both give their text where a text is expected, and to the host. */
const LIST = create(Array.prototype) as object;
const TEXT = create(String.prototype) as object;
/** Prototype of a method in a list. Its `call` is no member of the method itself, which is printed without it. */
const METHOD = {};

const TEXT_METHODS =
  "charAt charCodeAt codePointAt endsWith match matchAll normalize padEnd padStart repeat replace replaceAll search split startsWith substr substring toLowerCase toUpperCase trim trimEnd trimStart".split(
    " ",
  );
/** Methods that lists and texts have: they look in the text for a text. */
const SEARCH_METHODS = ["includes", "indexOf", "lastIndexOf"] as const;

type AnyMethod = (...args: unknown[]) => unknown;
type Methods = Readonly<Record<string, AnyMethod>>;

/** Lets answers be used as texts. Runs once, before the snapshot is taken. */
export function installAnswers(makeCall: MakeCall): void {
  const ofText = String.prototype as unknown as Methods;
  const ofList = Array.prototype as unknown as Methods;
  for (const name of TEXT_METHODS) {
    const method = ofText[name] as AnyMethod;
    define(LIST, name, function (this: unknown, ...args: unknown[]): unknown {
      return apply(method, getText(this) ?? "", args);
    });
  }
  for (const name of SEARCH_METHODS) {
    const [inText, inList] = [ofText[name] as AnyMethod, ofList[name] as AnyMethod];
    define(LIST, name, function (this: unknown, ...args: unknown[]): unknown {
      const text = typeof args[0] === "string" ? getText(this) : undefined;
      return text === undefined ? apply(inList, this, args) : apply(inText, text, args);
    });
  }
  define(LIST, "toString", function toString(this: unknown): string {
    return getText(this) ?? "";
  });
  define(METHOD, "call", function call(this: CallableMethod | undefined, ...args: unknown[]): unknown {
    if (this === undefined)
      throw new NativeTypeError("Cannot call a method without its object: write found[0].call(…)");
    return apply(makeCall(`${this.path}`) as AnyMethod, undefined, args);
  });
  define(METHOD, "toString", function toString(this: CallableMethod): string {
    return formatMethod(this);
  });
  teach(LIST, (list) => getText(list) ?? "");
  teach(TEXT, (text) => getText(text) ?? "");
  freeze(LIST);
  freeze(TEXT);
  freeze(METHOD);
}

function formatMethod({ path, signature, summary }: CallableMethod): string {
  return `${path}: ${signature}${summary === "" ? "" : ` — ${summary}`}`;
}

/** Returns the text of an answer or of a method in a list; `undefined` for any other value. */
export function getLine(value: unknown): string | undefined {
  const isMethod = typeof value === "object" && value !== null && getPrototypeOf(value) === METHOD;
  return isMethod ? formatMethod(value as CallableMethod) : getText(value);
}

/** Returns the text of an answer; `undefined` for any other value. */
export function getText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const prototype: unknown = getPrototypeOf(value);
  if (prototype !== LIST && prototype !== TEXT) return undefined;
  const { text } = value as { readonly text?: unknown };
  return typeof text === "string" ? text : undefined;
}

/**
 * Creates the answer that a program gets: a list of methods, or a text with members. Each method has `call`, which is a call
 * like any other. Anything else is returned as it is.
 */
export function toAnswer(answer: unknown, makeCall: MakeCall): unknown {
  if (typeof answer !== "object" || answer === null) return answer;
  const { kind } = answer as Partial<CatalogAnswer>;
  if (kind === "list" || kind === "text" || kind === "several") return createAnswer(answer as CatalogAnswer, makeCall);
  return answer;
}

function createAnswer(answer: CatalogAnswer, makeCall: MakeCall): object {
  const results: unknown[] = [];
  if (answer.kind === "several") {
    const answers: unknown[] = [];
    for (let i = 0; i < answer.answers.length; i++) {
      const each = createAnswer(answer.answers[i] as CatalogAnswer, makeCall) as { readonly results: unknown[] };
      push(answers, each);
      for (let at = 0; at < each.results.length; at++) push(results, each.results[at]);
    }
    return withMembers(setPrototype(answers, LIST), answer.text, results);
  }
  for (let i = 0; i < answer.methods.length; i++) push(results, createMethod(answer.methods[i] as CallableMethod));
  if (answer.kind === "list") return withMembers(setPrototype(copyList(results), LIST), answer.text, results);
  const text = withMembers(setPrototype(new NativeString(answer.text), TEXT), answer.text, results);
  const only = answer.methods[0];
  if (answer.methods.length !== 1 || only === undefined) return text;
  for (const key in only) define(text, key, only[key as keyof CallableMethod]);
  define(text, "call", makeCall(only.path));
  return text;
}

function createMethod({ path, signature, summary }: CallableMethod): object {
  const found = create(METHOD) as object;
  data(found, "path", path);
  data(found, "signature", signature);
  data(found, "summary", summary);
  return found;
}

function withMembers(answer: object, text: string, results: unknown[]): object {
  define(answer, "text", text);
  define(answer, "results", results);
  return answer;
}

function setPrototype(object: object, prototype: object): object {
  setPrototypeOf(object, prototype);
  return object;
}

function copyList(list: readonly unknown[]): unknown[] {
  const copy: unknown[] = [];
  for (let i = 0; i < list.length; i++) push(copy, list[i]);
  return copy;
}
