import { resolve } from "node:path";

import { loadConfig, serverConfigOf } from "./config/index.ts";
import { sentence, SkillgateError } from "./errors.ts";
import { isRecord } from "./model/json.ts";
import { DEFAULT_LIMITS, type Limits } from "./model/limits.ts";
import { nearest } from "./model/nearest.ts";
import type { Problem } from "./model/provider.ts";
import type { ProvidedSkill } from "./model/skill.ts";
import type { ServerConfig } from "./providers/mcp/index.ts";
import type { ApprovalRequest } from "./router/index.ts";
import { serverUse, type ServerUse } from "./server-use.ts";

/** Everything is optional: a runtime without options has the skills of the folder `skills` and nothing else. */
export interface RuntimeOptions {
  /** Folder of skill modules, relative to `cwd`; `false` for none. `skills` by default. */
  readonly skillsDir?: string | false;
  /** Skills that the program itself defines. */
  readonly skills?: readonly ProvidedSkill[];
  /** MCP servers by name, in any of the dialects that files use. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  /** How MCP servers are started, kept and asked. */
  readonly mcp?: ServerUse;
  /** Path of a settings.yaml to read; it must exist. */
  readonly settings?: string;
  /** Path of an MCP configuration file to read; it must exist. */
  readonly mcpConfig?: string;
  /** Reads the usual configuration files too: settings.yaml, mcp.json, .mcp.json, the user's own. Off by default. */
  readonly discover?: boolean;
  readonly limits?: Partial<Limits>;
  /** Answers for a person when a method needs an approval; without it such methods cannot be called. */
  readonly approve?: (request: ApprovalRequest) => boolean | Promise<boolean>;
  /**
   * Opens skills and servers only when `ready` is asked for, or a snippet names what is not there: a short-lived program
   * that needs none of them starts faster.
   */
  readonly lazy?: boolean;
  /** Takes up changes of skill files while the runtime lives. Off by default. */
  readonly watch?: boolean;
  /**
   * Lets the TypeScript compiler look at each snippet before it runs, in a thread of its own, for at most 100 ms. Needs the
   * package `typescript`. Off by default.
   */
  readonly typecheck?: boolean;
  /** Worker threads of the sandbox; one fewer than the machine has cores, at most 4, by default. */
  readonly workers?: number;
  /** What relative paths are relative to; the current folder by default. */
  readonly cwd?: string;
  /** The environment that configuration may refer to; that of the process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Options, after files were read and defaults filled in. */
export interface Settings {
  readonly skillsDir: string | undefined;
  readonly watch: boolean;
  readonly skills: readonly ProvidedSkill[];
  readonly servers: readonly ServerConfig[];
  readonly serverUse: ReturnType<typeof serverUse>;
  readonly limits: Limits;
  readonly sections: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Throws `OPTION_INVALID` for options that cannot be meant, `CONFIG_INVALID` for a file that was named and is broken. */
export async function readOptions(options: RuntimeOptions): Promise<Settings> {
  const cwd = resolve(options.cwd ?? ".");
  const env = options.env ?? process.env;
  const files = await readFiles(options, cwd, env);
  const declared = Object.entries(options.mcpServers ?? {}).map(([name, entry]) =>
    serverConfigOf(name, entry, { cwd, env }),
  );
  const names = new Set(declared.map((server) => server.name));
  const skillsDir = options.skillsDir ?? files.skillsDir ?? "skills";
  return {
    skillsDir: skillsDir === false ? undefined : resolve(cwd, skillsDir),
    watch: options.watch ?? false,
    skills: (options.skills ?? []).map(parseSkill),
    servers: [...declared, ...files.servers.filter((server) => !names.has(server.name))],
    serverUse: serverUse(options.mcp, {
      cwd,
      env,
      section: files.settings["mcp"],
      discover: options.discover ?? false,
      lazy: options.lazy ?? false,
    }),
    limits: mergeLimits(mergeLimits(DEFAULT_LIMITS, files.limits), options.limits),
    sections: files.settings,
    problems: files.warnings,
    env,
  };
}

/** What a timer can wait, in milliseconds: 24 days. */
const LONGEST_MS = 2 ** 31 - 1;

/** Limits with some of them replaced; throws `OPTION_INVALID` for an unknown one, or one that is no positive number. */
export function mergeLimits(limits: Limits, changes: Partial<Limits> | undefined): Limits {
  for (const [name, value] of Object.entries(changes ?? {})) {
    if (!Object.hasOwn(limits, name)) {
      const near = nearest(name, Object.keys(limits)).join(", ");
      throw new SkillgateError(
        "OPTION_INVALID",
        sentence("OPTION_INVALID", `limits.${name} is unknown${near && `; nearest: ${near}`}`),
      );
    }
    if (typeof value !== "number" || !(value > 0) || !Number.isFinite(value)) {
      throw new SkillgateError(
        "OPTION_INVALID",
        sentence("OPTION_INVALID", `limits.${name} must be a positive number, not ${JSON.stringify(value)}`),
      );
    }
  }
  const merged = { ...limits, ...changes };
  // A longer delay makes a timer fire at once.
  return { ...merged, cpuMs: Math.min(merged.cpuMs, LONGEST_MS), wallMs: Math.min(merged.wallMs, LONGEST_MS) };
}

interface Files {
  readonly servers: readonly ServerConfig[];
  readonly skillsDir?: string;
  readonly limits?: Partial<Limits>;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly warnings: readonly Problem[];
}

async function readFiles(options: RuntimeOptions, cwd: string, env: Settings["env"]): Promise<Files> {
  const { settings, mcpConfig, discover = false } = options;
  if (!discover && settings === undefined && mcpConfig === undefined)
    return { servers: [], settings: {}, warnings: [] };
  return loadConfig({
    cwd,
    env,
    ...(settings !== undefined && { settingsFile: settings }),
    ...(mcpConfig !== undefined && { mcpConfigFile: mcpConfig }),
  });
}

/** A program in plain JavaScript may pass anything. */
function parseSkill(value: unknown, index: number): ProvidedSkill {
  if (
    isRecord(value) &&
    typeof value["name"] === "string" &&
    Array.isArray(value["methods"]) &&
    typeof value["invoke"] === "function"
  ) {
    return value as unknown as ProvidedSkill;
  }
  throw new SkillgateError(
    "OPTION_INVALID",
    sentence("OPTION_INVALID", `skills[${index}] is no skill; make it with defineSkill({ … })`),
  );
}
