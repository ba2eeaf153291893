import { SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";

/** Typed access to the keys of one server's entry. A value of another type throws a `BadEntry`. */
export interface Fields {
  /** Returns the value as written; `undefined` for `null`. */
  raw(key: string): unknown;
  /** Returns the value of the first of these keys that is present. */
  text(...keys: readonly string[]): string | undefined;
  /** A list of texts, or a single one. */
  texts(key: string): readonly string[];
  textRecord(key: string): Readonly<Record<string, string>>;
  flag(key: string): boolean | undefined;
  positive(key: string): number | undefined;
}

/** `fill` fills in the placeholders of a value of a key. */
export function createFieldReader(
  server: string,
  entry: Readonly<Record<string, unknown>>,
  fill: (text: string, key: string) => string,
): Fields {
  const present = (key: string): unknown => (Object.hasOwn(entry, key) ? (entry[key] ?? undefined) : undefined);
  const scalar = (key: string, value: unknown, name = key): string => {
    if (typeof value === "string") return fill(value, key);
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw entryError(server, `${name} must be text`, {
      key,
      fix: `write it in quotes, as in "${key}": ${EXAMPLES[key] ?? '"…"'}`,
    });
  };
  return {
    raw: present,
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
      if (!isRecord(value))
        throw entryError(server, `${key} must be an object of texts`, {
          key,
          fix: `write "${key}": { "NAME": "value" }`,
        });
      const defined = Object.entries(value).filter(([, item]) => item !== null);
      return Object.fromEntries(defined.map(([name, item]) => [name, scalar(key, item, `${key}.${name}`)]));
    },
    flag(key) {
      const value = present(key);
      if (value === undefined || typeof value === "boolean") return value;
      throw entryError(server, `${key} must be true or false`, { key, fix: `write "${key}": true, without quotes` });
    },
    positive(key) {
      const value = present(key);
      if (value === undefined) return undefined;
      if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
      throw entryError(server, `${key} must be a number above 0`, { key, fix: `write "${key}": 60, without quotes` });
    },
  };
}

const EXAMPLES: Partial<Record<string, string>> = {
  command: '"npx"',
  args: '["-y", "package"]',
  env: '{ "NAME": "value" }',
  headers: '{ "Authorization": "Bearer ${TOKEN}" }',
};

/** The key of an entry that is wrong, and what to write instead. */
interface Advice {
  readonly key?: string;
  readonly fix?: string;
}

/** An entry that cannot be used. */
export class BadEntry extends SkillgateError {
  /** The key of the entry that is wrong; `undefined` for the entry itself. */
  readonly key: string | undefined;
  readonly fix: string | undefined;

  constructor(message: string, { key, fix }: Advice = {}) {
    super("CONFIG_INVALID", message, fix === undefined ? {} : { fix });
    this.key = key;
    this.fix = fix;
  }
}

/** `MCP server 'x': command is required for stdio transport` */
export function entryError(server: string, what: string, advice?: Advice): BadEntry {
  return new BadEntry(`MCP server '${server}': ${what}`, advice);
}
