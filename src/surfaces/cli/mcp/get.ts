import type { Command } from "commander";

import { isRecord } from "../../../model/json.ts";
import { toSkillName } from "../../../shared/names/skill-names.ts";
import type { CommandAction } from "../command-action.ts";
import { lines } from "../text/layout.ts";
import { type CommandConfig, openConfig, SCOPE_OPTION, scopeNamed } from "./files.ts";
import type { DeclaredServer } from "./load-config.ts";

export function addMcpGet(mcp: Command, act: CommandAction): void {
  mcp
    .command("get")
    .description("show how a server is configured, without its secrets")
    .argument("<name>", "name of the server")
    .option(SCOPE_OPTION, "the server's scope: project, local or user")
    .addHelpText("after", "\nExample:\n  skillgate mcp get filesystem")
    .action(
      act(async (session, name: string, { scope }: { readonly scope?: string }) => {
        const files = await openConfig(session);
        const server = files.configModule.findDeclaredServer(
          name,
          files,
          scope === undefined ? undefined : scopeNamed(scope),
        );
        const facts = collectFacts(server, files);
        return { exit: "ok", json: facts, text: factsText(facts) };
      }),
    );
}

interface ServerFacts {
  readonly name: string;
  readonly skill: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly scope: string;
  readonly enabled: boolean;
  readonly approved: boolean;
  readonly transport: string | null;
  /** The entry as it is in the file, with its secrets masked. */
  readonly entry: unknown;
  /** The reason why it cannot start. */
  readonly problem: string | null;
  readonly fix: string | null;
}

function collectFacts(
  { name, file, location, config, isHeld, entry, problem }: DeclaredServer,
  { configModule }: CommandConfig,
): ServerFacts {
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
