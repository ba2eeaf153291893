import { isRecord } from "../../../model/json.ts";
import { toSkillName } from "../../../shared/names/skill-names.ts";
import type { CliCommand } from "../command.ts";
import type { CliSession } from "../session.ts";
import { requireYes } from "../terminal/ask.ts";
import { escaped, lines } from "../text/layout.ts";
import {
  type CommandConfig,
  type DeclaredServer,
  openConfig,
  openServer,
  parseScope,
  SCOPE_OPTION,
  type ScopeFlag,
} from "./files.ts";

export function addMcpGet(mcp: CliCommand): void {
  mcp
    .command("get")
    .description("show how a server is configured, without its secrets")
    .argument("<name>", "name of the server")
    .option(SCOPE_OPTION, "the server's scope: project, local or user", parseScope)
    .addHelpText("after", "\nExample:\n  skillgate mcp get filesystem")
    .run(async (session, name: string, flags: ScopeFlag) => {
      const { server, ...files } = await openServer(session, name, flags);
      const facts = collectFacts(server, files);
      return { json: facts, text: factsText(facts) };
    });
}

type ServerFacts = ReturnType<typeof collectFacts>;

function collectFacts(
  { name, file, location, config, isHeld, entry, problem }: DeclaredServer,
  { configModule }: Pick<CommandConfig, "configModule">,
) {
  return {
    name,
    skill: config?.skillName ?? toSkillName(name),
    file: file.label,
    ...location,
    scope: file.scope,
    enabled: config?.enabled ?? false,
    approved: !isHeld,
    transport: config?.transport ?? null,
    entry: configModule.maskEntry(entry),
    /** The reason why it cannot start. */
    problem: problem?.error ?? config?.obstacle ?? null,
    fix: problem?.fix ?? null,
  };
}

function factsText(facts: ServerFacts): string {
  const { name, skill, file, line, column, scope, enabled, transport, entry, problem, fix } = facts;
  const settings = isRecord(entry) ? Object.entries(entry) : [];
  const rows: readonly (readonly [string, string])[] = [
    ["file", `${file}:${line}:${column} (${scope})`],
    ["skill", skill],
    ["transport", transport ?? "none"],
    ["enabled", enabled ? "yes" : "no"],
    ...settings.flatMap(([key, value]) => settingRows(key, value)),
    ...(problem === null ? [] : [["problem", problem] as const]),
    ...(fix === null ? [] : [["fix", fix] as const]),
  ];
  return lines([name, ...rows.map(([label, value]) => `  ${`${label}:`.padEnd(14)} ${value}`)]);
}

/** The fields that have rows of their own. */
const SHOWN_FIELDS: ReadonlySet<string> = new Set(["name", "type", "transport", "enabled", "disabled"]);

/** Formats one row for each setting, each variable and each header. */
function settingRows(key: string, value: unknown): readonly (readonly [string, string])[] {
  if (SHOWN_FIELDS.has(key)) return [];
  if (isRecord(value)) return Object.entries(value).map(([name, item]) => [key, `${name}=${formatWord(item)}`]);
  return [[key, Array.isArray(value) ? value.map(formatWord).join(" ") : formatWord(value)]];
}

function formatWord(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

interface RemoveFlags extends ScopeFlag {
  readonly yes?: true;
}

export function addMcpRemove(mcp: CliCommand): void {
  mcp
    .command("remove")
    .alias("rm")
    .description("remove a server from its file, after a confirmation")
    .argument("<name>", "name of the server")
    .option(SCOPE_OPTION, "the server's scope: project, local or user", parseScope)
    .option("-y, --yes", "skip the confirmation")
    .addHelpText("after", "\nExample:\n  skillgate mcp remove filesystem --yes")
    .run(async (session, name: string, { yes, ...flags }: RemoveFlags) => {
      const { server, ...files } = await openServer(session, name, flags);
      if (yes !== true) await confirm(server, files, session);
      const { file } = server;
      await files.configModule.changeDeclaredServer(server, [{ path: [], value: undefined }], files);
      const text = `Removed ${name} from ${file.label}`;
      return { json: { removed: { name, file: file.label } }, text };
    });
}

function confirm(
  { name, file, entry }: DeclaredServer,
  { configModule }: Pick<CommandConfig, "configModule">,
  { signal }: CliSession,
): Promise<void> {
  const what = `${escaped(name)} (${escaped(configModule.shownServer(entry))}) from ${escaped(file.label)}`;
  return requireYes(`Remove ${what}?`, signal, {
    refusal: (why) => `Cannot remove ${name} from ${file.label}: ${why}`,
    facts: { server: name, fix: `Add --yes: skillgate mcp remove ${name} --yes` },
  });
}

export function addMcpEnable(mcp: CliCommand): void {
  addSwitch(mcp, "enable", "allow a server to start again");
  addSwitch(mcp, "disable", "prevent a server from starting; its entry stays");
}

function addSwitch(mcp: CliCommand, word: "enable" | "disable", says: string): void {
  const enabled = word === "enable";
  mcp
    .command(word)
    .description(says)
    .argument("<names...>", "names of servers")
    .option(SCOPE_OPTION, "the servers' scope: project, local or user", parseScope)
    .addHelpText("after", `\nExample:\n  skillgate mcp ${word} filesystem`)
    .run(async (session, names: readonly string[], { scope }: ScopeFlag) => {
      const files = await openConfig(session);
      const { configModule } = files;
      const servers = names.map((name) => configModule.findDeclaredServer(name, files, scope));
      for (const server of servers) {
        await configModule.changeDeclaredServer(server, configModule.createSwitchChanges(server, enabled), files);
      }
      return {
        json: { servers: servers.map(({ name, file }) => ({ name, file: file.label, enabled })) },
        text: servers.map(({ name, file }) => `${name} is ${word}d in ${file.label}`).join("\n"),
      };
    });
}
