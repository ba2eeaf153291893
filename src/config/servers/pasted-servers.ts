import { SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { splitWords } from "./command-placeholders.ts";
import { getAddress, getCommandWords } from "./entry-keys.ts";
import { parseMcpFile } from "./mcp-file.ts";

/** A server that a text describes; its entry is not checked yet. */
export interface PastedServer {
  /** The name in the text, else one made of the package or the host. */
  readonly name: string;
  readonly entry: unknown;
}

const MAX_BYTES = 256 << 10;

/** Each word of a command is looked at many times: for variables, for secrets, for a name. */
const MAX_COMMAND_UNITS = 16 << 10;

/**
 * Reads the servers of a text that was copied from documentation: a block in the format of any client, also a part of one, a
 * command line, also one of `claude mcp add`, or an address. Throws `OPTION_INVALID` and `CONFIG_INVALID`.
 */
export function parsePastedServers(pasted: string): readonly PastedServer[] {
  if (Buffer.byteLength(pasted) > MAX_BYTES) throw createPasteError(`it has more than ${MAX_BYTES >> 10} KB`);
  const text = removeFence(pasted).trim();
  if (text === "") throw createPasteError("it is empty");
  const servers = findServers(text);
  if (servers.length > 0) return servers;
  throw createPasteError("it names no server");
}

function findServers(text: string): readonly PastedServer[] {
  if (/^https?:\/\/\S+$/i.test(text)) return [createEndpoint(text)];
  if (text.startsWith("[")) return readBlock(text, "the pasted text.toml");
  if (/^"[^"\n]*"\s*:/.test(text)) return readBlock(`{${text.replace(/,\s*$/, "")}}`);
  return text.startsWith("{") ? readBlock(text) : [parseCommandLine(text)];
}

/** Returns the first fenced block of Markdown, or the whole text. */
function removeFence(text: string): string {
  const lines = text.split("\n");
  const isFence = (line: string): boolean => line.trimStart().startsWith("```");
  const start = lines.findIndex(isFence) + 1;
  const length = lines.slice(start).findIndex(isFence);
  return start === 0 || length < 0 ? text : lines.slice(start, start + length).join("\n");
}

function readBlock(text: string, label = "the pasted text"): readonly PastedServer[] {
  const { entries } = parseMcpFile(text, label);
  if (entries.length > 0) return entries.map(({ name, entry }) => ({ name: String(name), entry }));
  const [only] = parseMcpFile(`{ "mcpServers": { "server": ${text} } }`, label).entries;
  return isRecord(only?.entry) && isConnection(only.entry)
    ? [{ name: suggestName(only.entry), entry: only.entry }]
    : [];
}

function isConnection(entry: Readonly<Record<string, unknown>>): boolean {
  return getAddress(entry) !== undefined || getCommandWords(entry).length > 0;
}

function createEndpoint(url: string): PastedServer {
  const entry = { type: /\/sse\/?$/.test(url) ? "sse" : "http", url };
  return { name: suggestName(entry), entry };
}

function parseCommandLine(text: string): PastedServer {
  if (text.length > MAX_COMMAND_UNITS)
    throw createPasteError(`a command line has at most ${MAX_COMMAND_UNITS} characters`);
  const line = text.replace(/^[$>]\s+/, "").replaceAll(/\\\r?\n/g, " ");
  const words = splitWords(line);
  if (words === undefined) throw createPasteError("a quote is not closed");
  const adding = words.findIndex((word, at) => word === "add" && words[at - 1] === "mcp");
  return adding < 0 ? createProcess(words) : parseAddCommand(words.slice(adding + 1));
}

/** `KEY=value npx -y weather-mcp` */
function createProcess(words: readonly string[], name?: string): PastedServer {
  const start = words.findIndex((word) => !VARIABLE.test(word));
  const [command, ...args] = start < 0 ? [] : words.slice(start);
  if (command === undefined) throw createPasteError("the command or address is missing");
  const env = toPairs(words.slice(0, start), VARIABLE);
  const entry = { command, args, ...(Object.keys(env).length > 0 && { env }) };
  return { name: name ?? suggestName(entry), entry };
}

const VARIABLE = /^([A-Za-z_]\w*)=(.*)$/s;
const HEADER = /^([\w-]+)\s*[:=]\s*(.*)$/s;

/** `[options] <name> [options] [--] <command or address>`, as `mcp add` of several clients has it. */
function parseAddCommand(words: readonly string[]): PastedServer {
  const dashes = words.indexOf("--");
  const before = dashes < 0 ? words : words.slice(0, dashes);
  const plain: string[] = [];
  const values = new Map<string, string[]>();
  for (let at = 0; at < before.length; at++) {
    const word = before[at] ?? "";
    const option = plain.length > 1 && !isAddress(plain[1]) ? undefined : OPTIONS.get(word);
    if (option === undefined) plain.push(word);
    else {
      const list = values.get(option) ?? [];
      list.push(before[++at] ?? "");
      values.set(option, list);
    }
  }
  const [name = "", ...rest] = plain;
  const target = dashes < 0 ? rest : words.slice(dashes + 1);
  const env = values.get("env") ?? [];
  const [address = ""] = target;
  if (!isAddress(address)) return createProcess([...env, ...target], name);
  const headers = toPairs(values.get("header") ?? [], HEADER);
  const type = values.get("transport")?.[0] === "sse" ? "sse" : "http";
  return { name, entry: { type, url: address, ...(Object.keys(headers).length > 0 && { headers }) } };
}

/** The options of `mcp add` that have a value. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ["-e", "env"],
  ["--env", "env"],
  ["-H", "header"],
  ["--header", "header"],
  ["-s", "scope"],
  ["--scope", "scope"],
  ["-t", "transport"],
  ["--transport", "transport"],
]);

function isAddress(word = ""): boolean {
  return /^https?:\/\//i.test(word);
}

function toPairs(words: readonly string[], form: RegExp): Readonly<Record<string, string>> {
  const pairs = words.map((word) => form.exec(word)).filter((pair) => pair !== null);
  return Object.fromEntries(pairs.map(([, name = "", value = ""]) => [name, value]));
}

/** Makes a name of the host, or of the package that the command starts: `@scope/mcp-server-git@1.2` → `git`. */
function suggestName(entry: Readonly<Record<string, unknown>>): string {
  const address = getAddress(entry);
  if (address !== undefined && URL.canParse(address)) {
    const parts = new URL(address).hostname.split(".").filter((part) => !/^(?:www|mcp|api)$/.test(part));
    return (parts.length > 1 ? parts.at(-2) : parts[0]) ?? "server";
  }
  const [command = "", ...args] = getCommandWords(entry);
  const word = [...args, command].find(
    (each) =>
      /^@?[\w./:-]*\w(?:@[\w.^~-]+)?$/.test(each) && !/^(?:run|exec|dlx|x)$/.test(each) && !each.startsWith("-"),
  );
  const base =
    (word ?? command)
      .replace(/(?<=.)@[^@/]*$/, "")
      .split(/[\\/]/)
      .at(-1) ?? "";
  const short = base
    .replace(/\.\w+$/, "")
    .replaceAll(/(?:^|-)(?:mcp|server)(?=-|$)/g, "")
    .replace(/^-|-$/g, "");
  return short || base || "server";
}

/** The message contains the fix. */
function createPasteError(why: string): SkillgateError {
  const example = '{ "mcpServers": { "weather": { "command": "npx", "args": ["-y", "weather-mcp"] } } }';
  const says = `Cannot read servers from this text: ${why}. Write ${example}, a command line or an address`;
  return new SkillgateError("OPTION_INVALID", says, { fix: "" });
}
