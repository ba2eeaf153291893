import { createError } from "../../errors.ts";
import { type Caller, requireCaller } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";
import { describeUnknownField } from "../suggest.ts";
import { formatSetting } from "./check-settings.ts";

/** The names of the options of a function. The compiler reports one that is missing. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws `OPTION_INVALID` for options that are not an object, or that have another name. A program in plain JavaScript may pass
 * anything, and a misspelt `caller` would otherwise run as the owner.
 */
export function requireNames<Options extends object>(
  what: string,
  options: Options,
  names: OptionNames<Options>,
): asserts options is Options {
  const record: unknown = options;
  if (!isRecord(record)) throw createError("OPTION_INVALID", `the options of ${what} must be an object`);
  for (const name in record) {
    if (Object.hasOwn(names, name) || record[name] === undefined) continue;
    throw createError("OPTION_INVALID", `${what} has no option ${describeUnknownField(name, Object.keys(names))}`);
  }
}

/** The names of the options of all methods whose options have a caller, by the position of the argument. */
export type MethodOptionNames<Api> = {
  readonly [Name in keyof Api as keyof NamesOf<Api[Name]> extends never ? never : Name]: NamesOf<Api[Name]>;
};

type NamesOf<Method> = Method extends (...args: infer Args) => Promise<unknown>
  ? NamesByPosition<Required<Args>>
  : object;

type NamesByPosition<Args extends readonly unknown[]> = {
  readonly [At in keyof Args & `${number}` as "caller" extends keyof NonNullable<Args[At]> ? At : never]: OptionNames<
    NonNullable<Args[At]>
  >;
};

interface CallerOptions extends Record<string, unknown> {
  readonly caller?: Caller;
}

/** Returns the methods of an object so that they reject with `OPTION_INVALID` for options that they do not have, or another caller than one. */
export function withOptionNames<Api extends object>(what: string, api: Api, methods: MethodOptionNames<Api>): Api {
  const checked = Object.defineProperties({}, Object.getOwnPropertyDescriptors(api)) as Record<string, unknown>;
  const byName = methods as Readonly<Record<string, Readonly<Record<string, OptionNames<Record<string, unknown>>>>>>;
  for (const [name, positions] of Object.entries(byName)) {
    const method = checked[name] as (...args: readonly unknown[]) => Promise<unknown>;
    checked[name] = async (...args: readonly unknown[]): Promise<unknown> => {
      for (const [at, names] of Object.entries(positions)) {
        const options = args[Number(at)];
        if (options === undefined) continue;
        requireNames(`${what}.${name}`, options as CallerOptions, names);
        requireCaller((options as CallerOptions).caller);
      }
      return method.apply(api, [...args]);
    };
  }
  return checked as Api;
}

/** Throws `OPTION_INVALID` for an argument that is not a text. */
export function requireText(what: string, text: unknown): asserts text is string {
  if (typeof text !== "string") throw createError("OPTION_INVALID", `${what} must be a text, not ${describe(text)}`);
}

function describe(value: unknown): string {
  return typeof value === "object" && value !== null ? "an object" : formatSetting(value);
}
