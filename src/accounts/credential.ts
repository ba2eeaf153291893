import { validateHeaderValue } from "node:http";

import type { Credential } from "../model/account.ts";
import { type AccountDefinition, encodeBasic, listPlaces, type StaticDefinition } from "./definition.ts";

const MAX_VALUE_UNITS = 32 << 10;

/** Returns the credential with these values: those of a definition, or the access token of OAuth. */
export function toCredential(definition: AccountDefinition, values: readonly string[]): Credential {
  const sent =
    definition.type === "apiKey"
      ? values.map((value) => `${definition.prefix}${value}`)
      : [toHeader(definition, values)];
  return listPlaces(definition).map((location, at) => ({ ...location, value: sent[at] ?? "" }));
}

function toHeader({ type }: AccountDefinition, [first = "", second = ""]: readonly string[]): string {
  return type === "basic" ? `Basic ${encodeBasic(first, second)}` : `Bearer ${first}`;
}

/** Returns the names of the values that a person enters for an account, in their order. */
export function listValueNames(definition: StaticDefinition): readonly string[] {
  if (definition.type === "basic") return ["username", "password"];
  return definition.type === "bearer" ? ["token"] : definition.names;
}

/** Says why values cannot be a credential, without the values; `undefined` if they can. */
export function findValueFlaw(definition: StaticDefinition, values: readonly string[]): string | undefined {
  const names = listValueNames(definition);
  if (values.length !== names.length)
    return `it needs ${names.length === 1 ? "one value" : `${names.length} values`}: ${names.join(", ")}`;
  const empty = names.find((_, at) => values[at] === "");
  if (empty !== undefined) return `${empty} is empty`;
  if (definition.type === "basic" && values[0]?.includes(":")) return "username has a colon, which ends it";
  const long = names.find((_, at) => (values[at] ?? "").length > MAX_VALUE_UNITS);
  if (long !== undefined) return `${long} has more than ${MAX_VALUE_UNITS} characters`;
  const wrong = toCredential(definition, values).findIndex((part) => !canSend(part));
  return wrong === -1
    ? undefined
    : `${names[wrong] ?? "a value"} has a line break or a character that a ${listPlaces(definition)[wrong]?.in ?? "header"} cannot have`;
}

function canSend({ in: location, name, value }: Credential[number]): boolean {
  if (location === "query" || location === "body") return true;
  if (location === "cookie" && /[;,"\\\s]/.test(value)) return false;
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
