import { type EarlyServer, findToken, openEarlyServer } from "../../http/opening/index.ts";
import { describeServers, loadEarlyConfig } from "./early-config.ts";
import { type EarlyFlags, getServedFolder, parseEarlyFlags } from "./early-flags.ts";
import { openEarlyTexts } from "./early-texts.ts";
import { resolveServerSettings, type HttpFlags } from "./server-settings.ts";

let earlyServer: EarlyServer | undefined;

/** Returns the server that listens already, once; `undefined` if the command does not listen early. */
export function takeEarlyServer(): EarlyServer | undefined {
  const server = earlyServer;
  earlyServer = undefined;
  return server;
}

/**
 * Listens for the clients of `skillgate serve --http`, and answers their first requests. Settles when the rest of the
 * program is to be loaded. Does nothing for other words of a command line, and where the command has to report an error.
 */
export async function listenEarly(args: readonly string[]): Promise<void> {
  const flags = parseEarlyFlags(args, { switches: SWITCHES, options: OPTIONS });
  if (flags === undefined || !isOverHttp(flags)) return;
  try {
    earlyServer = await open(flags, args);
  } catch {
    return; // the command tries again, and reports what is wrong
  }
  await earlyServer?.quiet;
}

const SWITCHES: readonly string[] = ["--http", "--no-auth", "--no-console"];
const OPTIONS: readonly string[] = ["--port", "--host", "--executors"];

function isOverHttp(flags: EarlyFlags): boolean {
  return flags.has("--http") || flags.has("--port") || process.stdin.isTTY;
}

/** Opens the server; `undefined` if no client can have its token yet. */
async function open(flags: EarlyFlags, args: readonly string[]): Promise<EarlyServer | undefined> {
  const config = await loadEarlyConfig(flags);
  const settings = resolveServerSettings(config.settings["server"], toHttpFlags(flags));
  const token = settings.auth ? findToken(process.env, { renew: false }) : undefined;
  if (settings.auth && token === undefined) return undefined;
  const texts = await openEarlyTexts(getServedFolder(flags), args, {
    expose: settings.expose,
    readServers: () => describeServers(config, flags),
  });
  return openEarlyServer(settings, { ...texts, isToken: token?.isToken });
}

/** The settings refuse values of the wrong kind. */
function toHttpFlags(flags: EarlyFlags): HttpFlags {
  const port = flags.get("--port");
  const texts = { host: flags.get("--host"), expose: flags.get("--expose"), names: flags.get("--names") };
  return {
    ...(texts as Pick<HttpFlags, "host" | "expose" | "names">),
    ...(port !== undefined && { port: /^\d{1,5}$/.test(port) ? Number(port) : Number.NaN }),
    auth: !flags.has("--no-auth"),
    console: !flags.has("--no-console"),
  };
}
