import { SkillgateError } from "../errors.ts";
import { isRecord } from "../model/json.ts";

/** The keys of one server's entry, each read as what it has to be; anything else throws a `CONFIG_INVALID`. */
export interface Fields {
  text(...keys: readonly string[]): string | undefined;
  /** A list of texts, or a single one. */
  texts(key: string): readonly string[];
  textRecord(key: string): Readonly<Record<string, string>>;
  flag(key: string): boolean | undefined;
  positive(key: string): number | undefined;
}

/** `fill` fills in placeholders. Of several keys, the first that is there counts; `null` is as good as nothing. */
export function fieldsOf(
  server: string,
  entry: Readonly<Record<string, unknown>>,
  fill: (text: string) => string,
): Fields {
  const present = (key: string): unknown => (Object.hasOwn(entry, key) ? (entry[key] ?? undefined) : undefined);
  const scalar = (key: string, value: unknown): string => {
    if (typeof value === "string") return fill(value);
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw wrong(server, `${key} must be text`);
  };
  return {
    text(...keys) {
      const key = keys.find((key) => present(key) !== undefined);
      return key === undefined ? undefined : scalar(key, present(key));
    },
    texts(key) {
      const value = present(key) ?? [];
      return (Array.isArray(value) ? value : [value]).map((item) => scalar(key, item));
    },
    textRecord(key) {
      const value = present(key) ?? {};
      if (!isRecord(value)) throw wrong(server, `${key} must be an object of texts`);
      const kept = Object.entries(value).filter(([, item]) => item !== null);
      return Object.fromEntries(kept.map(([name, item]) => [name, scalar(`${key}.${name}`, item)]));
    },
    flag(key) {
      const value = present(key);
      if (value === undefined || typeof value === "boolean") return value;
      throw wrong(server, `${key} must be true or false`);
    },
    positive(key) {
      const value = present(key);
      if (value === undefined) return undefined;
      if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
      throw wrong(server, `${key} must be a number above 0`);
    },
  };
}

/** `MCP server 'x': command is required for stdio transport` */
export function wrong(server: string, what: string): SkillgateError {
  return badEntry(`MCP server '${server}': ${what}`);
}

export function badEntry(message: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", message);
}
