import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";

import { isRecord } from "../../../model/json.ts";
import { MCP_CLIENT_IDS } from "../../../shared/mcp-clients.ts";
import { VERSION } from "../../../shared/version.ts";
import type { CliCommand, CommandResult } from "../command.ts";
import { type ClientFile, type CommandConfig, type McpClient, openConfig, SCOPE_OPTION } from "../mcp/files.ts";
import { clientFrom } from "../mcp/import.ts";
import { PACKAGE_FOLDER } from "../package.ts";
import type { CliSession, CommonFlags } from "../session.ts";
import { askYesNo, isAtTerminal } from "../terminal/ask.ts";
import { escaped, lines, shownPath } from "../text/layout.ts";
import { createUnknownValueError, UsageError } from "../usage-error.ts";
import {
  type AgentSkill,
  findAgentSkill,
  formatAgentSkill,
  formatShellCommand,
  removeAgentSkill,
  writeAgentSkill,
} from "./agent-skill.ts";
import { checkStart } from "./check-start.ts";
import { getStartCommand, type StartCommand } from "./start-command.ts";

interface ConnectFlags {
  readonly as: string;
  readonly scope: string;
  readonly name: string;
  readonly print?: true;
  /** False if the client is to serve the folder in which it starts the command. */
  readonly folder: boolean;
  readonly check: boolean;
  /** The profile of the settings that the client gets. */
  readonly profile?: string;
  /** Moves the servers of `.mcp.json`, if the client reads them, too. */
  readonly move?: true;
}

export function addConnect(program: CliCommand): void {
  clientCommand(program, "connect", "add Skillgate to another MCP client, in the client's own file")
    .option("--print", "print the entry without writing it")
    .option("--no-folder", "serve the folder in which the client starts the command, not this project")
    .option("--no-check", "write the entry without starting it once")
    .option("--profile <name>", "serve only the methods of a profile of the settings")
    .option("--move", "move the servers of .mcp.json, which the client reads, too, to mcp.json, which it does not")
    .addHelpText("after", CONNECT_HELP)
    .run(async (session, client: string, flags: ConnectFlags) => {
      if (flags.as !== "server") return connectAsSkill(client, flags, session);
      const target = await resolveTarget(client, flags, await openConfig(session));
      const folder = findFolder(flags);
      const command = getServerCommand(session.flags, flags, folder);
      const entry = target.client.toEntry(command.command, command.args);
      if (flags.print === true) return printed(target, entry);
      const { signal } = session;
      const cwd = flags.scope === "project" ? process.cwd() : undefined;
      const check = flags.check ? () => checkStart(command, { cwd, signal }) : undefined;
      const result = await connect(target, entry, { folder, check });
      return separateServers(result, target, { move: flags.move === true, session });
    });
  clientCommand(program, "disconnect", "remove Skillgate from another MCP client")
    .addHelpText("after", "\nExample:\n  skillgate disconnect cursor")
    .run(async (session, client: string, flags: ConnectFlags) => {
      const files = await openConfig(session);
      if (flags.as !== "server") return removeAgentSkill(resolveAgentSkill(client, flags, files));
      return disconnect(await resolveTarget(client, flags, files));
    });
}

function clientCommand(program: CliCommand, name: string, description: string): CliCommand {
  return program
    .command(name)
    .description(description)
    .argument("<client>", MCP_CLIENT_IDS.join(", "))
    .option("--as <kind>", "server: an MCP server; skill: a SKILL.md for an agent with a shell", "server")
    .option(SCOPE_OPTION, "user: the file for all folders; project: the file of this folder", "user")
    .option("--name <name>", "the name of the server in the client", "skillgate");
}

const CONNECT_HELP = `
The options --skills, --settings and --mcp-config are passed on to the server that the client starts.

Examples:
  skillgate connect claude-code
  skillgate connect vscode --scope project
  skillgate connect claude-code --move
  skillgate connect claude-code --as skill
  skillgate connect codex --print`;

/** Writes a file for an agent that has a shell, which then needs no server. */
async function connectAsSkill(client: string, flags: ConnectFlags, session: CliSession): Promise<CommandResult> {
  const target = resolveAgentSkill(client, flags, await openConfig(session));
  const { command, args } = getOwnCommand(session.flags);
  const shell = formatShellCommand([command, ...args], findFolder(flags));
  if (flags.print !== true) return writeAgentSkill(target, shell);
  const text = formatAgentSkill(target.name, shell);
  return {
    json: { client: target.client.id, file: target.label, text },
    text,
    remarks: `Write this to ${target.label}`,
  };
}

function resolveAgentSkill(clientName: string, flags: ConnectFlags, files: CommandConfig): AgentSkill {
  if (flags.as !== "skill") throw createUnknownValueError("kind", flags.as, ["server", "skill"]);
  return findAgentSkill(clientFrom(clientName, files.configModule), { ...flags, scope: readScope(flags.scope) }, files);
}

function readScope(scope: string): "user" | "project" {
  if (scope !== "user" && scope !== "project") throw createUnknownValueError("scope", scope, ["user", "project"]);
  return scope;
}

/** A client's file, and the name of the entry in it. */
export interface ConnectTarget {
  readonly client: McpClient;
  readonly file: ClientFile;
  readonly name: string;
  readonly files: CommandConfig;
  /** The current entry under this name. */
  readonly existing: unknown;
}

async function resolveTarget(
  clientName: string,
  { scope, name }: ConnectFlags,
  files: CommandConfig,
): Promise<ConnectTarget> {
  const { configModule, options } = files;
  const client = clientFrom(clientName, configModule);
  const file = configModule.clientFile(client, readScope(scope), options);
  if (file === undefined) throw new UsageError(`${client.title} has no project file; use --scope user`);
  const existing = await configModule.getValueIn(file.path, file.label, [...file.serversPath, name]);
  return { client, file, name, files, existing };
}

interface ConnectFacts {
  /** The project that the client is to serve; `undefined` for the folder in which it starts the command. */
  readonly folder: string | undefined;
  /** Throws if the command of the entry does not start. */
  readonly check: (() => Promise<void>) | undefined;
}

async function connect(
  { client, file, name, files, existing }: ConnectTarget,
  entry: Readonly<Record<string, unknown>>,
  { folder, check }: ConnectFacts,
): Promise<CommandResult> {
  const facts = { client: client.id, file: file.label, name, entry, ...(folder !== undefined && { folder }) };
  if (isDeepStrictEqual(existing, entry))
    return {
      json: { ...facts, changed: false },
      text: `${client.title} is already connected, in ${file.label}`,
    };
  if (existing !== undefined && !files.configModule.isSelfEntry(existing))
    throw new UsageError(`Another server is named ${name} in ${file.label}; choose a different name with --name`);
  await check?.();
  const { serversPath } = file;
  // Keys that the user added to the entry, such as variables, stay.
  const changes = isRecord(existing)
    ? Object.entries(entry).map(([key, value]) => ({ path: [...serversPath, name, key], value }))
    : [{ path: [...serversPath, name], value: entry }];
  await files.configModule.changeByHand(files.options, { files: [file.path] }, () =>
    files.configModule.changeServers(file, changes),
  );
  return {
    json: { ...facts, changed: true, checked: check !== undefined },
    text: lines([
      `Connected ${client.title}: ${name} is in ${file.label}${check === undefined ? "" : " (checked)"}; restart ${client.title}`,
      folder === undefined ? "" : `It serves the project ${shownPath(folder)}`,
    ]),
  };
}

async function printed(
  { client, file, name, files }: ConnectTarget,
  entry: Readonly<Record<string, unknown>>,
): Promise<CommandResult> {
  const text = files.configModule.formatEntryText(file, [...file.serversPath, name], entry);
  return {
    json: { client: client.id, file: file.label, name, entry, text },
    text,
    remarks: `Add this to ${file.label}`,
  };
}

async function disconnect({ client, file, name, files, existing }: ConnectTarget): Promise<CommandResult> {
  const facts = { client: client.id, file: file.label, name };
  if (existing === undefined)
    return {
      json: { ...facts, changed: false },
      text: `${client.title} is not connected: ${file.label} has no ${name}`,
    };
  if (!files.configModule.isSelfEntry(existing))
    throw new UsageError(`Cannot disconnect: ${name} in ${file.label} is not Skillgate`);
  await files.configModule.changeByHand(files.options, { files: [file.path] }, () =>
    files.configModule.changeServers(file, [{ path: [...file.serversPath, name], value: undefined }]),
  );
  return {
    json: { ...facts, changed: true },
    text: `Disconnected ${client.title}: ${name} was removed from ${file.label}`,
  };
}

/** The command with which a client starts the server. */
function getServerCommand(common: CommonFlags, { profile }: ConnectFlags, folder: string | undefined): StartCommand {
  const inFolder = folder === undefined ? [] : ["--folder", folder];
  const { args, ...start } = getOwnCommand(common, ["serve", "--stdio", ...inFolder]);
  return { ...start, args: profile === undefined ? args : [...args, "--profile", profile] };
}

/** The command that starts this installation of Skillgate with the same files, wherever the client runs. */
function getOwnCommand({ skills, settings, mcpConfig }: CommonFlags, words: readonly string[] = []): StartCommand {
  const passedOn = Object.entries({ "--skills": skills, "--settings": settings, "--mcp-config": mcpConfig });
  const options = passedOn.flatMap(([flag, path]) => (path === undefined ? [] : [flag, resolve(path)]));
  const start = getStartCommand({
    bin: join(PACKAGE_FOLDER, "dist", "src", "bin.js"),
    version: VERSION,
    execPath: process.execPath,
    path: process.env["PATH"] ?? "",
    isWindows: process.platform === "win32",
    findRealPath,
  });
  return { ...start, args: [...start.args, ...words, ...options] };
}

/**
 * Returns the folder that the server must serve. A client starts the servers of a project's file in that project, and
 * those of the user's file anywhere.
 */
function findFolder({ scope, folder }: Pick<ConnectFlags, "scope" | "folder">): string | undefined {
  if (scope === "project" || !folder) return undefined;
  return PROJECT_PARTS.some((name) => existsSync(name)) ? process.cwd() : undefined;
}

/** The files and folders that make a folder a project. */
const PROJECT_PARTS = ["skills", "settings.yaml", ".mcp.json", "mcp.json"];

function findRealPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // it does not exist
  }
}

interface SeparateOptions {
  /** True if the user has asked for it on the command line. */
  readonly move: boolean;
  readonly session: Pick<CliSession, "signal">;
}

/**
 * Adds to a result that the client would see the servers of `.mcp.json` twice: itself, and through Skillgate. Moves them if the
 * user wants that.
 */
export async function separateServers(
  result: CommandResult,
  { client, files }: Pick<ConnectTarget, "client" | "files">,
  { move, session }: SeparateOptions,
): Promise<CommandResult> {
  const { configModule } = files;
  const servers = client.readsSharedFile === true ? configModule.findSharedServers(files) : [];
  if (servers.length === 0) return result;
  const names = servers.map(({ name }) => name);
  const fact = `${client.title} reads .mcp.json, too, and sees these servers twice: ${escaped(names.join(", "))}`;
  const question = `${fact}. Move them to mcp.json, which only Skillgate reads? [y/N] `;
  const json = result.json as Readonly<Record<string, unknown>>;
  if (move || (isAtTerminal() && (await askYesNo(question, session.signal)))) {
    const file = await configModule.moveSharedServers(servers, files);
    const text = lines([result.text, `Moved ${escaped(names.join(", "))} from .mcp.json to ${file}`]);
    return { ...result, json: { ...json, moved: names }, text };
  }
  const remarks = `${fact}. skillgate connect ${client.id} --move moves them to mcp.json, which only Skillgate reads`;
  return { ...result, json: { ...json, twice: names }, remarks };
}
