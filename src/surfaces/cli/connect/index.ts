import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Command } from "commander";

import { isRecord } from "../../../model/json.ts";
import { MCP_CLIENT_IDS } from "../../../shared/mcp-clients.ts";
import type { CommandAction } from "../command-action.ts";
import { type CommandConfig, openConfig, SCOPE_OPTION } from "../mcp/files.ts";
import { clientFrom } from "../mcp/import.ts";
import type { McpClient, ClientFile } from "../mcp/load-config.ts";
import { PACKAGE_FOLDER } from "../package.ts";
import type { CommonFlags } from "../session.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { createUnknownValueError, UsageError } from "../usage-error.ts";

interface ConnectFlags {
  readonly scope: string;
  readonly name: string;
  readonly print?: true;
}

export function addConnect(program: Command, act: CommandAction): void {
  clientCommand(program, "connect", "add Skillgate to another MCP client, in the client's own file")
    .option("--print", "print the entry without writing it")
    .addHelpText("after", CONNECT_HELP)
    .action(
      act(async (session, client: string, flags: ConnectFlags) => {
        const target = await resolveTarget(client, flags, await openConfig(session));
        const words = ownCommand(session.flags);
        const entry = target.client.toEntry(words.command, words.args);
        return flags.print === true ? printed(target, entry) : connect(target, entry);
      }),
    );
  clientCommand(program, "disconnect", "remove Skillgate from another MCP client")
    .addHelpText("after", "\nExample:\n  skillgate disconnect cursor")
    .action(
      act(async (session, client: string, flags: ConnectFlags) =>
        disconnect(await resolveTarget(client, flags, await openConfig(session))),
      ),
    );
}

function clientCommand(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .argument("<client>", MCP_CLIENT_IDS.join(", "))
    .option(SCOPE_OPTION, "user: the file for all folders; project: the file of this folder", "user")
    .option("--name <name>", "the name of the server in the client", "skillgate");
}

const CONNECT_HELP = `
The options --skills, --settings and --mcp-config are passed on to the server that the client starts.

Examples:
  skillgate connect claude-code
  skillgate connect vscode --scope project
  skillgate connect codex --print`;

/** A client's file, and the name of the entry in it. */
interface ConnectTarget {
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
  if (scope !== "user" && scope !== "project") throw createUnknownValueError("scope", scope, ["user", "project"]);
  const file = configModule.clientFile(client, scope, options);
  if (file === undefined) throw new UsageError(`${client.title} has no project file; use --scope user`);
  const existing = await configModule.getValueIn(file.path, file.label, [...file.home, name]);
  return { client, file, name, files, existing };
}

async function connect(
  { client, file, name, files, existing }: ConnectTarget,
  entry: Readonly<Record<string, unknown>>,
): Promise<CommandResult> {
  const facts = { client: client.id, file: file.label, name, entry };
  if (isDeepStrictEqual(existing, entry))
    return {
      exit: "ok",
      json: { ...facts, changed: false },
      text: `${client.title} is already connected, in ${file.label}`,
    };
  if (existing !== undefined && !files.configModule.isSelfEntry(existing))
    throw new UsageError(`Another server is named ${name} in ${file.label}; choose a different name with --name`);
  const { home } = file;
  // Keys that the user added to the entry, such as variables, stay.
  const changes = isRecord(existing)
    ? Object.entries(entry).map(([key, value]) => ({ path: [...home, name, key], value }))
    : [{ path: [...home, name], value: entry }];
  await files.configModule.changeByHand(files.options, { files: [file.path] }, () =>
    files.configModule.changeServers(file, changes),
  );
  return {
    exit: "ok",
    json: { ...facts, changed: true },
    text: `Connected ${client.title}: ${name} is in ${file.label}; restart ${client.title}`,
  };
}

async function printed(
  { client, file, name, files }: ConnectTarget,
  entry: Readonly<Record<string, unknown>>,
): Promise<CommandResult> {
  const text = files.configModule.formatEntryText(file, [...file.home, name], entry);
  return {
    exit: "ok",
    json: { client: client.id, file: file.label, name, entry, text },
    text,
    remarks: `Add this to ${file.label}`,
  };
}

async function disconnect({ client, file, name, files, existing }: ConnectTarget): Promise<CommandResult> {
  const facts = { client: client.id, file: file.label, name };
  if (existing === undefined)
    return {
      exit: "ok",
      json: { ...facts, changed: false },
      text: `${client.title} is not connected: ${file.label} has no ${name}`,
    };
  if (!files.configModule.isSelfEntry(existing))
    throw new UsageError(`Cannot disconnect: ${name} in ${file.label} is not Skillgate`);
  await files.configModule.changeByHand(files.options, { files: [file.path] }, () =>
    files.configModule.changeServers(file, [{ path: [...file.home, name], value: undefined }]),
  );
  return {
    exit: "ok",
    json: { ...facts, changed: true },
    text: `Disconnected ${client.title}: ${name} was removed from ${file.label}`,
  };
}

/** The command that starts this installation of Skillgate, wherever the client runs. */
function ownCommand({ skills, settings, mcpConfig }: CommonFlags): {
  readonly command: string;
  readonly args: readonly string[];
} {
  const passedOn = Object.entries({ "--skills": skills, "--settings": settings, "--mcp-config": mcpConfig });
  const options = passedOn.flatMap(([flag, path]) => (path === undefined ? [] : [flag, resolve(path)]));
  const args = ["serve", "--stdio", ...options];
  const bin = join(PACKAGE_FOLDER, "dist", "src", "bin.js");
  if (isOnPath("skillgate", bin)) return { command: "skillgate", args };
  if (/[\\/]_npx[\\/]/.test(bin)) return { command: "npx", args: ["-y", "skillgate", ...args] };
  return { command: process.execPath, args: [bin, ...args] };
}

/** True if a shell resolves the name to this file. */
function isOnPath(name: string, file: string): boolean {
  if (process.platform === "win32") return false; // on Windows it is a script, which not every client starts
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const found = folders.map((folder) => join(folder, name)).find(isExecutable);
  return found !== undefined && realpathSync(found) === realpathSync(file);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // it does not exist, or this user may not execute it
  }
}
