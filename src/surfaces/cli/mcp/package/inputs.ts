import { isRecord } from "../../../../model/json.ts";
import { UsageError } from "../../usage-error.ts";
import { askInput, isAtTerminal } from "../../terminal/ask.ts";

/** An object of a package, as it was read. */
export type PackageFields = Readonly<Record<string, unknown>>;

/** A value that a package leaves to its user. */
export interface PackageInput {
  readonly id: string;
  readonly description: string;
  readonly isSecret: boolean;
  readonly isRequired: boolean;
  /** There may be several values. */
  readonly isRepeated: boolean;
  readonly choices: readonly string[];
  readonly defaults: readonly string[];
  /** Says why a value cannot be used; `undefined` if it can. */
  readonly findMistake?: (value: string) => string | undefined;
}

/** The values of inputs by their ids. An input without a value is missing. */
export type InputValues = ReadonlyMap<string, readonly string[]>;

/** Parses the values of `--input id=value`. */
export function parseInputFlags(pairs: readonly string[]): InputValues {
  const values = new Map<string, readonly string[]>();
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError("Cannot read an input: write --input name=value");
    const id = pair.slice(0, at);
    values.set(id, [...(values.get(id) ?? []), pair.slice(at + 1)]);
  }
  return values;
}

/**
 * Finds the values of inputs: those given, else the answers of a person at a terminal, else the defaults. Throws
 * a `UsageError` that names all that is missing or wrong.
 */
export async function findValues(
  inputs: readonly PackageInput[],
  options: InputValues,
  signal: AbortSignal,
): Promise<InputValues> {
  const byId = new Map(inputs.map((input) => [input.id, input]));
  const unknown = [...options.keys()].find((id) => !byId.has(id));
  if (unknown !== undefined)
    throw new UsageError(`The package has no input ${JSON.stringify(unknown)}`, [...byId.keys()].slice(0, MAX_NAMED));
  const values = new Map<string, readonly string[]>();
  const missing: string[] = [];
  for (const input of byId.values()) {
    const found = options.get(input.id) ?? (await ask(input, signal)) ?? input.defaults;
    for (const value of found) requireAllowed(input, value);
    if (found.length > 1 && !input.isRepeated) throw new UsageError(`The input ${input.id} has one value, not several`);
    if (found.length > 0) values.set(input.id, found);
    else if (input.isRequired) missing.push(input.id);
  }
  if (missing.length === 0) return values;
  const flags = missing.map((id) => `--input ${id}=…`).join(" ");
  throw new UsageError(`The package needs ${missing.join(", ")}: give ${flags}, or run the command at a terminal`);
}

const MAX_NAMED = 20;

/** Asks a person at the terminal for a required or secret value; `undefined` without an answer. */
async function ask(
  { id, description, isSecret, isRequired, choices, defaults }: PackageInput,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  if (!(isRequired || isSecret) || !isAtTerminal()) return undefined;
  const [orElse] = defaults;
  const question = {
    id,
    description: `${id}: ${description}`,
    isSecret,
    choices,
    ...(orElse !== undefined && { orElse }),
  };
  const answer = await askInput(question, signal);
  signal.throwIfAborted();
  return answer === undefined || answer === orElse ? undefined : [answer];
}

function requireAllowed({ id, choices, findMistake }: PackageInput, value: string): void {
  const mistake =
    choices.length > 0 && !choices.includes(value) ? `must be one of ${choices.join(", ")}` : findMistake?.(value);
  if (mistake !== undefined) throw new UsageError(`The input ${id} ${mistake}`);
}

/** Returns the mistake of a value that must be a number, `true` or `false`. */
export function findFormMistake(format: unknown, { min, max }: { min?: unknown; max?: unknown } = {}) {
  return (value: string): string | undefined => {
    if (format === "boolean") return /^(?:true|false)$/.test(value) ? undefined : "must be true or false";
    if (format !== "number") return undefined;
    const number = Number(value);
    if (value.trim() === "" || !Number.isFinite(number)) return "must be a number";
    if (typeof min === "number" && number < min) return `must be at least ${min}`;
    return typeof max === "number" && number > max ? `must be at most ${max}` : undefined;
  };
}

/**
 * Throws a `UsageError` for a text of a package that names a variable: in an entry it would be filled in with the value of the user's
 * own environment, or by a command.
 */
export function requirePlain(text: string, where: string): string {
  if (/[$]\{|\{env:/i.test(text))
    throw new UsageError(`${where} names a variable that a package cannot have: ${JSON.stringify(text.slice(0, 100))}`);
  return text;
}

export function readText(value: unknown, where: string, maxUnits = MAX_TEXT_UNITS): string {
  if (typeof value !== "string" || value === "") throw new UsageError(`${where} must be a text`);
  if (value.length > maxUnits) throw new UsageError(`${where} has more than ${maxUnits} characters`);
  return value;
}

const MAX_TEXT_UNITS = 8_192;

export function readList(value: unknown, where: string): readonly Readonly<Record<string, unknown>>[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_ITEMS || !value.every(isRecord))
    throw new UsageError(`${where} must be a list of at most ${MAX_ITEMS} objects`);
  return value;
}

const MAX_ITEMS = 200;
