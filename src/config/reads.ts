import { resolve } from "node:path";

import { isRecord } from "../model/json.ts";
import { inputVariable } from "./servers/inputs.ts";
import { placeholdersIn, readEnvFile, type Variables } from "./variables.ts";

/** The variables of an entry: of its placeholders, and those that it names for Codex. */
export function variablesReadBy(entry: unknown): readonly string[] {
  if (!isRecord(entry)) return [];
  const { env_vars: passedOn, bearer_token_env_var: bearer, env_http_headers: headers } = entry;
  const variables = [passedOn, bearer, isRecord(headers) ? Object.values(headers) : []].flat();
  const placeholders = placeholdersIn(textsIn(entry)).filter(({ kind }) => kind === "variable");
  return [
    ...new Set([...placeholders.map(({ name }) => name), ...variables.filter((name) => typeof name === "string")]),
  ];
}

/** The ids of what a person is asked for. */
export function inputsReadBy(entry: unknown): readonly string[] {
  return [...new Set(findInputFields(entry).map(({ id }) => id))];
}

/** A field of an entry that contains `${input:id}`. */
export interface InputField {
  readonly id: string;
  /** As in `env.TOKEN`. */
  readonly field: string;
  /** The variable of the environment that has the value where no person can be asked. */
  readonly variable: string;
}

export function findInputFields(value: unknown, field = ""): readonly InputField[] {
  if (typeof value === "string") {
    const inputs = placeholdersIn(value).filter(({ kind }) => kind === "input");
    return inputs.map(({ name: id }) => ({ id, field, variable: inputVariable(id) }));
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    findInputFields(inner, field === "" ? key : `${field}.${key}`),
  );
}

/** Where the values of an entry come from. */
export interface EntryValues {
  readonly variables: Variables;
  readonly inputs: Variables;
  /** The base of `envFile`; `undefined` leaves that file out. */
  readonly cwd: string | undefined;
}

/** Returns the values that an entry reads from outside, by name; names without a value are omitted. */
export function getReadValues(entry: unknown, { variables, inputs, cwd }: EntryValues): ReadonlyMap<string, unknown> {
  const envFile = isRecord(entry) && cwd !== undefined ? entry["envFile"] : undefined;
  const pairs: readonly (readonly [string, unknown])[] = [
    ...variablesReadBy(entry).map((name) => [name, variables(name)] as const),
    ...inputsReadBy(entry).map((id) => [`input ${id}`, inputs(id)] as const),
    ...(typeof envFile === "string" ? [[envFile, readEnvFile(resolve(cwd ?? "", envFile))] as const] : []),
  ];
  return new Map(pairs.filter(([, value]) => value !== undefined));
}

/** All texts of an entry as one, as they are written: JSON would escape what is in a placeholder. */
function textsIn(value: unknown): string {
  if (typeof value === "string") return `${value}\n`;
  if (Array.isArray(value)) return value.map(textsIn).join("");
  return isRecord(value) ? Object.values(value).map(textsIn).join("") : "";
}
