import { resolve } from "node:path";

import { readRegularFile } from "../../../shared/files/regular-file.ts";
import { type Expose, EXPOSES, OpeningStream } from "../../mcp/opening/index.ts";
import { readKnownServers } from "./early-config.ts";
import { type EarlyFlags, getServedFolder, parseEarlyFlags } from "./early-flags.ts";
import { type EarlyTexts, openEarlyTexts } from "./early-texts.ts";

/** The client that this command serves over stdin and stdout, while the command is loaded. */
export interface EarlyClient {
  readonly stream: OpeningStream;
  readonly store: EarlyTexts["store"];
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
 * Settles when the rest of the program is to be loaded. Returns false for other words of a command line.
 */
export async function openEarlyClient(args: readonly string[]): Promise<boolean> {
  const flags = parseEarlyFlags(args, { switches: ["--stdio"], options: ["--profile"] });
  if (flags === undefined || (!flags.has("--stdio") && process.stdin.isTTY)) return false;
  const { getTexts, store } = await openEarlyTexts(getServedFolder(flags), args, {
    expose: findExpose(flags),
    readServers: async () => (flags.has("--profile") ? [] : readKnownServers(flags)),
  });
  // The command replaces this function while the client is still being answered.
  const write = process.stdout.write.bind(process.stdout);
  const stream = new OpeningStream(process.stdin, write, getTexts);
  earlyClient = { stream, store };
  process.stdout.once("error", () => {}); // the client has gone, which the program notices
  await stream.quiet;
  return true;
}

/** Returns what clients see as tools; `undefined` if the settings file may say it. */
function findExpose(flags: EarlyFlags): Expose | undefined {
  const flag = flags.get("--expose");
  if (flag === undefined && flags.has("--profile")) return undefined; // the profile may say it
  if (flag !== undefined) return EXPOSES.find((each) => each === flag);
  try {
    const file = resolve(getServedFolder(flags), flags.get("--settings") ?? "settings.yaml");
    return readRegularFile(file).includes("expose") ? undefined : "auto";
  } catch {
    return "auto"; // there is no settings file, or the command reports it
  }
}
