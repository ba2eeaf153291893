import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { isRecord } from "../../../model/json.ts";
import { createFileCache, type KeyValueCache } from "../../../shared/file-cache.ts";
import { getProjectStateDir } from "../../../shared/files/project-state-dir.ts";
import { VERSION } from "../../../shared/version.ts";
import {
  type Expose,
  EXPOSES,
  getClientLimits,
  getFirstTexts,
  OpeningStream,
  type OpeningTexts,
} from "../../mcp/opening/index.ts";

/** The client that this command serves over stdin and stdout, while the command is loaded. */
export interface EarlyClient {
  readonly stream: OpeningStream;
  /** Stores the texts for a client, for the next start of the same command in this folder. */
  store(clientName: string, texts: OpeningTexts): void;
}

let earlyClient: EarlyClient | undefined;

/** Returns the client that is being answered, once; `undefined` if the command is not one that answers early. */
export function takeEarlyClient(): EarlyClient | undefined {
  const client = earlyClient;
  earlyClient = undefined;
  return client;
}

/**
 * Answers the first requests of a client of `skillgate serve --stdio`, with the texts of the last start if there was one.
 * Settles when the rest of the program is to be loaded. Does nothing for other words of a command line.
 */
export async function openEarlyClient(args: readonly string[]): Promise<void> {
  const flags = parseFlags(args);
  if (flags === undefined || (!flags.has("--stdio") && process.stdin.isTTY)) return;
  const cache = createFileCache(join(getProjectStateDir(getFolder(flags)), "opening"));
  const getKey = (clientName: string): string => JSON.stringify([VERSION, args, getClientLimits(clientName)]);
  const expose = findExpose(flags);
  const getTexts = (clientName: string): OpeningTexts | undefined =>
    readTexts(cache, getKey(clientName)) ?? (expose && getFirstTexts(expose));
  // The command replaces this function while the client is still being answered.
  const write = process.stdout.write.bind(process.stdout);
  const stream = new OpeningStream(process.stdin, write, getTexts);
  earlyClient = { stream, store: (clientName, texts) => void cache.set(getKey(clientName), texts) };
  process.stdout.once("error", () => {}); // the client has gone, which the program notices
  await stream.quiet;
}

const SWITCHES: ReadonlySet<string> = new Set(["--stdio", "--verbose", "--debug"]);
const OPTIONS: ReadonlySet<string> = new Set(
  "--folder --expose --names --skills --settings --mcp-config --log-format --profile".split(" "),
);

/** Reads flags and their values; `undefined` for a line that must be read by the command itself. */
function parseFlags(args: readonly string[]): ReadonlyMap<string, string> | undefined {
  const flags = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const flag = args[at] ?? "";
    const value = args[at + 1];
    if (SWITCHES.has(flag)) flags.set(flag, "");
    else if (OPTIONS.has(flag) && value !== undefined && !value.startsWith("-")) {
      flags.set(flag, value);
      at++;
    } else return undefined;
  }
  return flags;
}

/** Returns what clients see as tools; `undefined` if the settings file may say it. */
function findExpose(flags: ReadonlyMap<string, string>): Expose | undefined {
  const flag = flags.get("--expose");
  if (flag === undefined && flags.has("--profile")) return undefined; // the profile may say it
  if (flag !== undefined) return EXPOSES.find((each) => each === flag);
  try {
    const settings = readFileSync(resolve(getFolder(flags), flags.get("--settings") ?? "settings.yaml"), "utf8");
    return settings.includes("expose") ? undefined : "auto";
  } catch {
    return "auto"; // there is no settings file, or the command reports it
  }
}

function getFolder(flags: ReadonlyMap<string, string>): string {
  return resolve(flags.get("--folder") ?? ".");
}

function readTexts(cache: KeyValueCache, key: string): OpeningTexts | undefined {
  const stored = cache.get(key);
  const isValid = isRecord(stored) && typeof stored["instructions"] === "string" && Array.isArray(stored["tools"]);
  return isValid ? (stored as unknown as OpeningTexts) : undefined;
}
