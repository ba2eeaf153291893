import { once } from "node:events";
import { writeSync } from "node:fs";
import { Writable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { InvalidArgumentError, Option } from "commander";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { createSessionValues, isSessionValue, SESSION_VALUE_RULE } from "../../../model/requests/request-values.ts";
import type { Runtime } from "../../../runtime.ts";
import type { HttpServerSettings } from "../../http/index.ts";
import type { Connections, EarlyServer } from "../../http/opening/index.ts";
import type { Expose, McpSurface, Principal, StreamConnection } from "../../mcp/index.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { startHttpServer } from "../http-server.ts";
import { type LogFormat, openServeLog, type ServeLog } from "../serve-log.ts";
import type { CliSession } from "../session.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import { waitForInterruption } from "../terminal/interruption.ts";
import { serveOnUncaught } from "../uncaught.ts";
import { UsageError } from "../usage-error.ts";
import { CLIENT_NAMES } from "../../mcp/opening/index.ts";
import { type EarlyClient, takeEarlyClient } from "./early-client.ts";
import type { HttpFlags } from "./server-settings.ts";

interface ServeFlags extends HttpFlags {
  readonly folder?: string;
  readonly stdio?: true;
  readonly http?: true;
  readonly newToken?: true;
  readonly logFormat?: LogFormat;
  readonly executors?: string;
  readonly profile?: string;
  readonly session?: Readonly<Record<string, string>>;
}

/** A copy of the values of `Expose`, so that `--help` does not load the server. */
const EXPOSES: readonly Expose[] = ["code", "calls", "tools", "both", "auto"];

export function addServe(program: CliCommand): void {
  program
    .command("serve")
    .description("serve all skills and MCP servers: over MCP, JSON-RPC and HTTP")
    .option("--stdio", "serve one MCP client over stdin and stdout, for clients that start this command")
    .option("--http", "serve many clients at http://127.0.0.1:3333: /mcp, /rpc, /ws, /tools/{name}, /openapi.json")
    .option("--folder <folder>", "the project to serve (default: this folder); other paths are relative to it")
    .option("--port <port>", "the port to listen on; 0 selects a free port", portNumber)
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .addOption(new Option("--expose <what>", "what MCP clients see as tools (default: auto)").choices(EXPOSES))
    .addOption(new Option("--names <how>", "how methods are named as tools").choices(["qualified", "raw"]))
    .option("--no-auth", "require no token; only on this machine")
    .addOption(new Option("--log-format <format>", "how the log is written to stderr").choices(["text", "json"]))
    .option("--executors <url>", "hand the programs to executors, over NATS (default: executors.url of the settings)")
    .option("--profile <name>", "serve only the methods of a profile of the settings; over HTTP, use /mcp/<name>")
    .option("--session <name=value>", "a session value for MCP servers, with --stdio; can be repeated", sessionValue)
    .option("--no-console", "do not offer the web console at /")
    .option("--new-token", "replace the token that was created at the first start")
    .run(async (session, flags: ServeFlags) => {
      const { signal } = session;
      if (flags.folder !== undefined) enterFolder(flags.folder);
      if (flags.stdio && (flags.http || flags.port !== undefined))
        throw new UsageError("Cannot use --stdio together with --http or --port");
      const overHttp = flags.http ?? (flags.port !== undefined || (!flags.stdio && process.stdin.isTTY));
      if (overHttp && flags.profile !== undefined)
        throw new UsageError("Over HTTP, clients select a profile by its address, /mcp/NAME; --profile is for --stdio");
      if (overHttp && flags.session !== undefined)
        throw new UsageError("Over HTTP, clients send session values as headers; --session is for --stdio");
      await using early = overHttp ? await takeServer() : undefined;
      // From here on, all other output goes to stderr: stdout carries the protocol.
      const output = overHttp ? undefined : takeStdout();
      const log = await openLog(session, flags);
      const executors = await readExecutors(session, flags);
      const runtime = await session.openRuntime({ serve: { log: log.listener, executors } });
      log.follow(runtime);
      runtime.automations.follow().catch(() => {}); // the store cannot be opened, which is reported as a problem
      log.warn(session.telemetry.problems());
      const connections = await openConnections(log);
      const serving = { runtime, flags, signal, log, session, early, connections };
      const stopCommands = executors === false ? await startCommands(serving) : undefined;
      let isServing = true;
      let isWarned = false;
      // A server that is still connecting at shutdown is not a problem.
      void whenStarted(runtime).then(() => {
        if (isServing) log.warn(runtime.problems);
        isWarned = true;
      });
      try {
        const isDrained = await (output === undefined ? serveOverHttp(serving) : serveOverStdio(serving, output));
        if (!isWarned) log.warn(session.problems()); // it has ended before it was known what they are
        return { ...SERVED, isDrained };
      } finally {
        isServing = false;
        await stopCommands?.();
      }
    });
}

/** Lets commands of the same user use the runtime, unless the settings switch that off. */
async function startCommands(serving: Serving): Promise<(() => Promise<void>) | undefined> {
  const { runtime, session, flags, connections, log } = serving;
  const { socket, drainSeconds } = await readServerSettings(runtime, flags);
  if (!socket) return undefined;
  const { serveCommands } = await import("../socket/server.ts");
  return serveCommands({ runtime, session, connections, drainMs: drainSeconds * 1_000, log: log.listener });
}

/** Settles when each server that starts with the command is connected or has failed. */
function whenStarted(runtime: Runtime): Promise<void> {
  const mcp = runtime.sections["mcp"];
  return isRecord(mcp) && mcp["start"] === "when needed" ? runtime.known : runtime.ready;
}

/** The result of a served session, which prints nothing: its log has the problems. */
const SERVED: CommandResult = { json: {}, text: "", isWarned: true };

interface Serving {
  readonly runtime: Runtime;
  readonly flags: ServeFlags;
  readonly signal: AbortSignal;
  readonly log: ServeLog;
  readonly session: CliSession;
  readonly early: EarlyServer | undefined;
  readonly connections: Connections;
}

/** Creates the limits that all connections of the process share: those of clients, and those of commands. */
async function openConnections({ say }: ServeLog): Promise<Connections> {
  const { CONNECTION_LIMITS, createConnections } = await import("../../http/opening/index.ts");
  return createConnections(CONNECTION_LIMITS, (text) => say(text, "warn"));
}

async function takeServer(): Promise<EarlyServer | undefined> {
  const { takeEarlyServer } = await import("./early-server.ts");
  return takeEarlyServer();
}

/** The flag decides on the format of the log, else the setting `server.log`. */
async function openLog({ folders, flags: { verbose }, paint }: CliSession, flags: ServeFlags): Promise<ServeLog> {
  const { server } = await folders();
  const format = flags.logFormat ?? (isRecord(server) && server["log"] === "json" ? "json" : "text");
  return openServeLog(format, { isVerbose: verbose === true, paint: paint.err });
}

/** The network of executors; `false` if this process executes its programs. */
async function readExecutors({ readNetwork }: CliSession, { executors: url }: ServeFlags): Promise<Executors> {
  const changes = url === undefined ? {} : { url };
  const { settings, problems } = await readNetwork("executors", changes);
  const [problem] = problems;
  if (problem !== undefined) throw new UsageError(problem.error);
  return settings === undefined ? false : changes;
}

type Executors = Readonly<Record<string, unknown>> | false;

function sessionValue(text: string, previous: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value = ""] = /^([a-z][a-z0-9-]*)=(.*)$/s.exec(text) ?? [];
  if (name !== undefined && isSessionValue(value)) return { ...previous, [name]: value };
  throw new InvalidArgumentError(`Write name=value; the value is ${SESSION_VALUE_RULE}.`);
}

function enterFolder(folder: string): void {
  try {
    process.chdir(folder);
  } catch (thrown) {
    throw new UsageError(`Cannot serve the folder ${JSON.stringify(folder)}: ${getMessage(thrown)}`);
  }
}

function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("It must be a port from 0 to 65535.");
}

async function readServerSettings(runtime: Runtime, flags: ServeFlags): Promise<HttpServerSettings> {
  const { resolveServerSettings } = await import("./server-settings.ts");
  return resolveServerSettings(runtime.sections["server"], flags);
}

/** Returns false if requests were still in progress after the time to drain. */
async function serveOverHttp({ runtime, flags, signal, log, session, early, connections }: Serving): Promise<boolean> {
  const { say } = log;
  const settings = await readServerSettings(runtime, flags);
  const { openToken } = await import("../../http/index.ts");
  const token = settings.auth ? openToken(process.env, { renew: flags.newToken === true }) : undefined;
  runtime.secrets.add([token?.created ?? ""]);
  const isAsSet = isDeepStrictEqual(early?.settings, settings);
  if (!isAsSet) await early?.close(); // the settings have changed since the start
  const parts = {
    runtime,
    settings,
    isToken: token?.isToken,
    session,
    log,
    connections,
    early: isAsSet ? early : undefined,
  };
  const server = await startHttpServer(parts);
  const pages = settings.console ? `the web console at ${server.url}/, ` : "";
  say(`Serving ${pages}MCP at ${server.url}/mcp (and /rpc, /ws, /tools/{name}, /openapi.json, /health, /metrics)`);
  if (token?.created !== undefined) {
    log.sayUnmasked(`Token, shown only once: ${token.created}`);
    say(`Clients send it as "Authorization: Bearer …"; only its hash is stored, in ${token.file}`);
  }
  if (token?.created === undefined && token?.file !== undefined)
    say("Clients need the token that was shown at the first start; --new-token creates another");
  await waitForInterruption(signal);
  return server.close();
}

/** Returns false if requests were still in progress after the time to drain. */
async function serveOverStdio({ runtime, flags, signal, log }: Serving, output: Writable): Promise<boolean> {
  const settings = await readServerSettings(runtime, flags);
  const { createMcpSurface } = await import("../../mcp/index.ts");
  const { OWNER } = await import("../../../model/caller.ts");
  const { expose, names, budgetTokens, bodyBytes, drainSeconds, passMeta } = settings;
  const surface = createMcpSurface(runtime, { bodyBytes, passMeta, sessions: { most: 1, idleMs: 60_000 } });
  const requestValues = createSessionValues(flags.session ?? {});
  const whole = { caller: OWNER, exposure: { expose, names, budgetTokens }, requestValues };
  const asker = flags.profile === undefined ? whole : await enterProfile(runtime, whole, flags);
  const early = takeEarlyClient();
  const connection = surface.serveStreams(
    early?.stream.takeInput() ?? process.stdin,
    early?.stream.filterOutput(output) ?? output,
    asker,
  );
  if (early !== undefined) void runtime.known.then(() => updateClient(early, asker, surface, connection));
  serveOnUncaught(runtime.secrets, log);
  void finishWithoutReader(connection);
  await Promise.race([connection.closed, waitForInterruption(signal)]);
  if (!signal.aborted && process.stdin.bytesRead === 0) log.say(NO_CLIENT, "warn");
  runtime.releaseCallers();
  const isDrained = await connection.finish(drainSeconds * 1_000);
  await surface.close();
  return isDrained;
}

/** Ends a connection whose client has gone, although calls are in progress: nothing reads their answers. */
async function finishWithoutReader(connection: StreamConnection): Promise<void> {
  if (!process.stdin.readableEnded) await once(process.stdin, "close");
  while (!isReaderGone()) if (await waitAtMost(READER_MS, connection.closed)) return;
  await connection.finish(READER_MS);
}

const READER_MS = 1_000;

/** Writes nothing to stdout, which fails for a socket whose other end is closed. The end of a pipe is noticed by the next message. */
function isReaderGone(): boolean {
  if (process.platform === "win32") return false;
  try {
    writeSync(process.stdout.fd, "");
    return false;
  } catch (thrown) {
    return isRecord(thrown) && thrown["code"] === "EPIPE";
  }
}

/** Returns the principal as its profile limits it. The flags replace what the profile exposes. */
async function enterProfile(
  runtime: Runtime,
  whole: Principal,
  { profile = "", ...flags }: ServeFlags,
): Promise<Principal> {
  const { selectProfile } = await import("../../mcp/index.ts");
  const selected = await selectProfile(runtime, whole, profile);
  if ("message" in selected) throw new UsageError(selected.message);
  const { expose = selected.exposure.expose, names = selected.exposure.names } = flags;
  return { ...selected, exposure: { ...selected.exposure, expose, names } };
}

const NO_CLIENT =
  "stdin was closed before a client sent a message. MCP clients start this command with an open stdin; skillgate serve --http serves clients that connect over HTTP";

/** Stores the texts for the next client, and announces its tools if they differ from those it was sent. */
function updateClient(early: EarlyClient, asker: Principal, surface: McpSurface, connection: StreamConnection): void {
  const { summary } = early.stream;
  if (summary === undefined) return;
  for (const name of CLIENT_NAMES) early.store(name, surface.getTexts(asker, name));
  const texts = surface.getTexts(asker, summary.clientName);
  if (summary.tools !== undefined && !isDeepStrictEqual(summary.tools, texts.tools)) connection.announceTools();
}

/** Returns a stream to stdout, and redirects all other output to stderr. */
function takeStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => void write(text, done),
  });
}
