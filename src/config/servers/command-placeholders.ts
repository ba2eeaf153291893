import { createHmac, randomBytes } from "node:crypto";

import { isRecord } from "../../model/json.ts";
import { entryError } from "./entry-fields.ts";
import { FILLED_KEYS, LOGIN_SECRETS } from "./entry-keys.ts";

/** `${cmd:op read op://vault/item}`: the output of a command. */
const COMMAND = /\$\{cmd:([^{}]{1,1000})\}/g;

/** The words of commands, by the texts that stand for their output until the server starts. */
export type SecretCommands = Map<string, readonly string[]>;

/** The replacements of the placeholders of one value. */
interface Replacements {
  /** Fills in all other placeholders. */
  readonly fill: (text: string) => string;
  readonly commands: SecretCommands;
}

/**
 * Replaces each command of a value with a text that stands for its output, and fills in the rest. A placeholder inside of a
 * filled-in value is not a command. Throws a `BadEntry` for a key that cannot have commands, and for a wrong command.
 */
export function replaceCommands(server: string, key: string, text: string, { fill, commands }: Replacements): string {
  const parts = text.split(COMMAND);
  if (parts.length > 1 && !FILLED_KEYS.has(key) && !LOGIN_SECRETS.has(key))
    throw entryError(server, `${key} cannot have \${cmd:…}`, {
      key,
      fix: "write it in args, env, headers or url, or in a secret of oauth",
    });
  return parts.map((part, index) => (index % 2 === 0 ? fill(part) : addCommand(server, key, part, commands))).join("");
}

function addCommand(server: string, key: string, line: string, commands: SecretCommands): string {
  const words = splitWords(line);
  if (words === undefined || words.length === 0)
    throw entryError(server, `${key} has a wrong command: ${JSON.stringify(line)}`, {
      key,
      fix: 'write "${cmd:op read op://vault/item}", and quote words with spaces',
    });
  const placeholder = `cmd-${createHmac("sha256", PROCESS_KEY).update(JSON.stringify(words)).digest("hex")}`;
  commands.set(placeholder, words);
  return placeholder;
}

/** No value of a variable can contain a text that stands for a command. */
const PROCESS_KEY = randomBytes(32);

/** Splits a command line at its spaces, without a shell; `undefined` if a quote is not closed. */
export function splitWords(line: string): readonly string[] | undefined {
  if (/["']/.test(line.replaceAll(QUOTED, ""))) return undefined;
  const words = line.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) => word.replaceAll(QUOTED, (quoted) => quoted.slice(1, -1)));
}

const QUOTED = /"[^"]*"|'[^']*'/g;

/** The commands in an entry as they are written. */
export function findCommands(entry: unknown): readonly string[] {
  if (typeof entry === "string") return [...entry.matchAll(COMMAND)].map(([, line = ""]) => line.trim());
  if (Array.isArray(entry)) return entry.flatMap(findCommands);
  return isRecord(entry) ? Object.values(entry).flatMap(findCommands) : [];
}
