import type { Command } from "commander";

import { isRecord } from "../../../model/json.ts";
import type { CommandAction } from "../command-action.ts";
import { declaredNamed, openConfig, SCOPE_OPTION, scopeNamed } from "./files.ts";
import type { DeclaredServer } from "./load-config.ts";
import { changeServer } from "./write.ts";

export function addMcpEnable(mcp: Command, act: CommandAction): void {
  for (const command of [ENABLE, DISABLE]) addSwitch(mcp, act, command);
}

interface ServerSwitch {
  readonly word: string;
  readonly says: string;
  readonly enabled: boolean;
}

const ENABLE: ServerSwitch = { word: "enable", says: "allow a server to start again", enabled: true };
const DISABLE: ServerSwitch = {
  word: "disable",
  says: "prevent a server from starting; its entry stays",
  enabled: false,
};

function addSwitch(mcp: Command, act: CommandAction, { word, says, enabled }: ServerSwitch): void {
  mcp
    .command(word)
    .description(says)
    .argument("<names...>", "names of servers")
    .option(SCOPE_OPTION, "the servers' scope: project, local or user")
    .addHelpText("after", `\nExample:\n  skillgate mcp ${word} filesystem`)
    .action(
      act(async (session, names: readonly string[], { scope }: { readonly scope?: string }) => {
        const files = await openConfig(session);
        const target = scope === undefined ? undefined : scopeNamed(scope);
        const servers = names.map((name) => declaredNamed(name, files, target));
        for (const server of servers) {
          await changeServer(server, changesTo(server, enabled), files);
        }
        return {
          exit: "ok",
          json: { servers: servers.map(({ name, file }) => ({ name, file: file.label, enabled })) },
          text: servers.map(({ name, file }) => `${name} is ${word}d in ${file.label}`).join("\n"),
        };
      }),
    );
}

/** Changes the key that the entry has (`enabled` or `disabled`), else `enabled`. */
function changesTo({ entry }: DeclaredServer, enabled: boolean): { path: string[]; value: unknown }[] {
  const has = (key: string): boolean => isRecord(entry) && Object.hasOwn(entry, key);
  const at = (key: string, value: unknown): { path: string[]; value: unknown } => ({ path: [key], value });
  if (has("enabled")) return [at("enabled", enabled), ...(has("disabled") ? [at("disabled", undefined)] : [])];
  if (has("disabled")) return [at("disabled", !enabled)];
  return enabled ? [] : [at("enabled", false)];
}
