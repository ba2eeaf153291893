import { existsSync } from "node:fs";
import { join } from "node:path";

import { isRecord } from "../../model/json.ts";
import { MCP_CLIENT_IDS } from "../../shared/mcp-clients.ts";
import { type ServerPlace, getValueIn } from "./edit-servers.ts";
import type { Path } from "../documents/index.ts";
import { type ConfigFolders, formatPathLabel } from "../read-file.ts";
import { type ConfigOptions, resolveFolders } from "../locations.ts";

/** A program that has MCP servers, and keeps them in a file of its own. */
export interface McpClient {
  readonly id: string;
  readonly title: string;
  /** Other common names of the client. */
  readonly aliases: readonly string[];
  /** The user's file: the first that exists, or else the first one. */
  readonly user: (folders: Places) => readonly string[];
  /** The file of a project, where it has one. */
  readonly project?: string;
  /** Where in the file the servers are. */
  readonly serversPath: Path;
  /** The folders of the skills that the client reads, where it has a shell: of the user, and of a project. */
  readonly skills?: { readonly user: (folders: Places) => string; readonly project: string };
  /** True if the client also reads the file `.mcp.json` of a project. */
  readonly readsSharedFile?: true;
  /** How it writes a server that is a process. */
  readonly toEntry: (command: string, args: readonly string[]) => Readonly<Record<string, unknown>>;
  /** How it writes a server at an address. */
  readonly toRemoteEntry: (url: string, headers: Readonly<Record<string, string>>) => Readonly<Record<string, unknown>>;
}

/** Where a system keeps the files of its programs. */
interface Places {
  readonly home: string;
  /** `~/.config`, or where the user has it. */
  readonly config: string;
  /** The folder of desktop programs: as above, `~/Library/Application Support`, or `%APPDATA%`. */
  readonly appData: string;
  readonly codexHome: string;
  /** The file that `CLINE_MCP_SETTINGS_PATH` names. */
  readonly clineFile: string | undefined;
  readonly isWindows: boolean;
}

const plain: McpClient["toEntry"] = (command, args) => ({ command, args });
const typed: McpClient["toEntry"] = (command, args) => ({ type: "stdio", command, args });
const local: McpClient["toEntry"] = (command, args) => ({ type: "local", command: [command, ...args], enabled: true });

const plainRemote: McpClient["toRemoteEntry"] = (url, headers) => ({ url, headers });
const typedRemote: McpClient["toRemoteEntry"] = (url, headers) => ({ type: "http", url, headers });
const geminiRemote: McpClient["toRemoteEntry"] = (httpUrl, headers) => ({ httpUrl, headers });
const opencodeRemote: McpClient["toRemoteEntry"] = (url, headers) => ({ type: "remote", url, headers, enabled: true });

/** Starts a process that passes messages on, for a client that only starts processes: https://www.npmjs.com/package/mcp-remote */
function startRemote(url: string, headers: Readonly<Record<string, string>>): Readonly<Record<string, unknown>> {
  // Some systems split arguments at spaces, so the value is in a variable.
  const names = Object.keys(headers);
  const args = names.flatMap((name) => ["--header", `${name}:\${${toVariable(name)}}`]);
  const env = Object.fromEntries(names.map((name) => [toVariable(name), headers[name]]));
  return { command: "npx", args: ["-y", "mcp-remote", url, ...args], ...(names.length > 0 && { env }) };
}

function toVariable(header: string): string {
  return header.toUpperCase().replaceAll("-", "_");
}

/** Keeps the skills of the user in a folder of the home folder, and those of a project in a folder of the same name. */
function inFolder(name: string, project = name): NonNullable<McpClient["skills"]> {
  return { user: ({ home }) => join(home, name, "skills"), project: `${project}/skills` };
}

/** The most frequent details of a client. */
const USUAL = { aliases: [], serversPath: ["mcpServers"], toEntry: plain, toRemoteEntry: plainRemote } as const;

type ClientDetails = Omit<McpClient, "id" | keyof typeof USUAL> & Partial<Pick<McpClient, keyof typeof USUAL>>;

const DETAILS: Readonly<Record<(typeof MCP_CLIENT_IDS)[number], ClientDetails>> = {
  "claude-code": {
    title: "Claude Code",
    aliases: ["claude"],
    user: ({ home }) => [join(home, ".claude.json")],
    project: ".mcp.json",
    skills: inFolder(".claude"),
    readsSharedFile: true,
    toEntry: typed,
    toRemoteEntry: typedRemote,
  },
  "claude-desktop": {
    title: "Claude Desktop",
    user: ({ appData }) => [join(appData, "Claude", "claude_desktop_config.json")],
    toRemoteEntry: startRemote,
  },
  cursor: {
    title: "Cursor",
    user: ({ home }) => [join(home, ".cursor", "mcp.json")],
    project: ".cursor/mcp.json",
    skills: inFolder(".cursor"),
  },
  vscode: {
    title: "VS Code",
    aliases: ["code", "vs-code"],
    user: ({ appData }) => [join(appData, "Code", "User", "mcp.json")],
    project: ".vscode/mcp.json",
    skills: inFolder(".copilot", ".github"),
    serversPath: ["servers"],
    toEntry: typed,
    toRemoteEntry: typedRemote,
  },
  codex: {
    title: "Codex",
    user: ({ codexHome }) => [join(codexHome, "config.toml")],
    project: ".codex/config.toml",
    // https://developers.openai.com/codex/skills
    skills: inFolder(".agents"),
    serversPath: ["mcp_servers"],
    toRemoteEntry: (url, headers) => ({ url, http_headers: headers }),
  },
  opencode: {
    title: "opencode",
    aliases: ["open-code"],
    user: ({ config }) => ["opencode.json", "opencode.jsonc"].map((name) => join(config, "opencode", name)),
    project: "opencode.json",
    skills: { user: ({ config }) => join(config, "opencode", "skills"), project: ".opencode/skills" },
    serversPath: ["mcp"],
    toEntry: local,
    toRemoteEntry: opencodeRemote,
  },
  windsurf: {
    title: "Windsurf",
    user: ({ home }) => [join(home, ".codeium", "windsurf", "mcp_config.json")],
    skills: inFolder(join(".codeium", "windsurf"), ".windsurf"),
    toRemoteEntry: (serverUrl, headers) => ({ serverUrl, headers }),
  },
  gemini: {
    title: "Gemini CLI",
    aliases: ["gemini-cli"],
    user: ({ home }) => [join(home, ".gemini", "settings.json")],
    project: ".gemini/settings.json",
    skills: inFolder(".gemini"),
    toRemoteEntry: geminiRemote,
  },
  zed: {
    title: "Zed",
    user: ({ config, appData, isWindows }) => [
      isWindows ? join(appData, "Zed", "settings.json") : join(config, "zed", "settings.json"),
    ],
    project: ".zed/settings.json",
    serversPath: ["context_servers"],
    toEntry: (command, args) => ({ source: "custom", command, args, env: {} }),
  },
  // https://docs.github.com/en/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers
  copilot: {
    title: "Copilot CLI",
    aliases: ["copilot-cli", "github-copilot"],
    user: ({ home }) => [join(home, ".copilot", "mcp-config.json")],
    project: ".github/mcp.json",
    skills: inFolder(".copilot", ".github"),
    readsSharedFile: true,
    toEntry: (command, args) => ({ type: "local", command, args, tools: ["*"] }),
    toRemoteEntry: (url, headers) => ({ type: "http", url, headers, tools: ["*"] }),
  },
  // https://qwenlm.github.io/qwen-code-docs/en/users/features/mcp
  qwen: {
    title: "Qwen Code",
    aliases: ["qwen-code"],
    user: ({ home }) => [join(home, ".qwen", "settings.json")],
    project: ".qwen/settings.json",
    skills: inFolder(".qwen"),
    readsSharedFile: true,
    toRemoteEntry: geminiRemote,
  },
  // https://docs.cline.bot/mcp/mcp-overview; the second file is that of the extension of VS Code
  cline: {
    title: "Cline",
    user: ({ home, appData, clineFile }) => [
      ...(clineFile === undefined ? [] : [clineFile]),
      join(home, ".cline", "data", "settings", CLINE_FILE),
      join(appData, "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", CLINE_FILE),
    ],
    toRemoteEntry: (url, headers) => ({ type: "streamableHttp", url, headers }),
  },
  // https://docs.continue.dev/customize/deep-dives/mcp: each JSON file of the folder is read
  continue: {
    title: "Continue",
    aliases: ["continue-dev"],
    user: ({ home }) => [join(home, ".continue", "mcpServers", "skillgate.json")],
    project: ".continue/mcpServers/skillgate.json",
    toRemoteEntry: typedRemote,
  },
  // https://kilo.ai/docs/automate/mcp/using-in-kilo-code
  kilo: {
    title: "Kilo Code",
    aliases: ["kilo-code", "kilocode"],
    user: ({ home }) => ["kilo.jsonc", "kilo.json"].map((name) => join(home, ".config", "kilo", name)),
    project: ".kilo/kilo.jsonc",
    serversPath: ["mcp"],
    toEntry: local,
    toRemoteEntry: opencodeRemote,
  },
  // https://ampcode.com/manual#mcp
  amp: {
    title: "Amp",
    aliases: ["ampcode"],
    user: ({ home }) => [join(home, ".config", "amp", "settings.json")],
    project: ".amp/settings.json",
    skills: { user: ({ config }) => join(config, "agents", "skills"), project: ".agents/skills" },
    serversPath: ["amp.mcpServers"],
  },
};

const CLINE_FILE = "cline_mcp_settings.json";

/** Every client that can be connected, and imported from. */
export const CLIENTS: readonly McpClient[] = MCP_CLIENT_IDS.map((id) => ({ id, ...USUAL, ...DETAILS[id] }));

export function findClient(name: string): McpClient | undefined {
  const folded = name.toLowerCase();
  return CLIENTS.find(({ id, aliases }) => id === folded || aliases.includes(folded));
}

/** A client's file, and where in it the servers are. */
export interface ClientFile extends ServerPlace {
  readonly exists: boolean;
}

/** `undefined` if a client has no files in projects. */
export function clientFile(
  client: McpClient,
  scope: "user" | "project",
  options: ConfigOptions,
): ClientFile | undefined {
  const folders = resolveFolders(options);
  const paths = scope === "user" ? client.user(getClientFolders(options.env, folders)) : projectFile(client, folders);
  const path = paths.find((path) => existsSync(path)) ?? paths[0];
  if (path === undefined) return undefined;
  const { serversPath } = client;
  const label = formatPathLabel(path, folders);
  return { path, label, serversPath, isPrivate: scope === "user", exists: existsSync(path) };
}

/** Returns the folder in which a client finds skills; `undefined` if it reads none. */
export function findSkillFolder(
  { skills }: McpClient,
  scope: "user" | "project",
  options: ConfigOptions,
): { readonly path: string; readonly label: string } | undefined {
  if (skills === undefined) return undefined;
  const folders = resolveFolders(options);
  const path =
    scope === "user" ? skills.user(getClientFolders(options.env, folders)) : join(folders.cwd, skills.project);
  return { path, label: formatPathLabel(path, folders) };
}

function projectFile({ project }: McpClient, { cwd }: ConfigFolders): readonly string[] {
  return project === undefined ? [] : [join(cwd, project)];
}

function getClientFolders(env: ConfigOptions["env"], { home }: ConfigFolders): Places {
  const config = env["XDG_CONFIG_HOME"] || join(home, ".config");
  return {
    home,
    config,
    appData: getAppDataFolder(env, home, config),
    codexHome: env["CODEX_HOME"] || join(home, ".codex"),
    clineFile: env["CLINE_MCP_SETTINGS_PATH"] || undefined,
    isWindows: process.platform === "win32",
  };
}

function getAppDataFolder(env: ConfigOptions["env"], home: string, config: string): string {
  if (process.platform === "win32") return env["APPDATA"] || join(home, "AppData", "Roaming");
  return process.platform === "darwin" ? join(home, "Library", "Application Support") : config;
}

/** The servers in a client's file, unchanged. Throws a `CONFIG_INVALID` for a file that cannot be read. */
export async function readClientServers(
  client: McpClient,
  { path, label, serversPath }: ClientFile,
  { cwd }: Pick<ConfigOptions, "cwd">,
): Promise<readonly (readonly [name: string, entry: unknown])[]> {
  // Claude Code also keeps servers of single projects in the user's file.
  const paths = client.id === "claude-code" ? [serversPath, ["projects", cwd, ...serversPath]] : [serversPath];
  const found = await Promise.all(paths.map((inFile) => getValueIn(path, label, inFile)));
  return found.flatMap((servers) => (isRecord(servers) ? Object.entries(servers) : []));
}
