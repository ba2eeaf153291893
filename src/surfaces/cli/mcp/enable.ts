import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { openConfig, SCOPE_OPTION, scopeNamed } from "./files.ts";

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
        const { configModule } = files;
        const target = scope === undefined ? undefined : scopeNamed(scope);
        const servers = names.map((name) => configModule.findDeclaredServer(name, files, target));
        for (const server of servers) {
          await configModule.changeDeclaredServer(server, configModule.createSwitchChanges(server, enabled), files);
        }
        return {
          exit: "ok",
          json: { servers: servers.map(({ name, file }) => ({ name, file: file.label, enabled })) },
          text: servers.map(({ name, file }) => `${name} is ${word}d in ${file.label}`).join("\n"),
        };
      }),
    );
}
