import type { Command } from "commander";

import { SkillgateError } from "../../../errors.ts";
import type { CommandAction } from "../command-action.ts";
import { askYesNo, isAtTerminal } from "../terminal/ask-line.ts";
import { escaped } from "../text/layout.ts";
import type { CliSession } from "../session.ts";
import { type CommandConfig, openConfig, SCOPE_OPTION, scopeNamed } from "./files.ts";
import type { DeclaredServer } from "./load-config.ts";

interface RemoveFlags {
  readonly scope?: string;
  readonly yes?: true;
}

export function addMcpRemove(mcp: Command, act: CommandAction): void {
  mcp
    .command("remove")
    .alias("rm")
    .description("remove a server from its file, after a confirmation")
    .argument("<name>", "name of the server")
    .option(SCOPE_OPTION, "the server's scope: project, local or user")
    .option("-y, --yes", "skip the confirmation")
    .addHelpText("after", "\nExample:\n  skillgate mcp remove filesystem --yes")
    .action(
      act(async (session, name: string, { scope, yes }: RemoveFlags) => {
        const files = await openConfig(session);
        const server = files.configModule.findDeclaredServer(
          name,
          files,
          scope === undefined ? undefined : scopeNamed(scope),
        );
        if (yes !== true) await confirm(server, files, session);
        const { file } = server;
        await files.configModule.changeDeclaredServer(server, [{ path: [], value: undefined }], files);
        const text = `Removed ${name} from ${file.label}`;
        return { exit: "ok", json: { removed: { name, file: file.label } }, text };
      }),
    );
}

async function confirm(
  { name, file, entry }: DeclaredServer,
  { configModule }: CommandConfig,
  { signal }: CliSession,
): Promise<void> {
  const what = `${escaped(name)} (${escaped(configModule.shownServer(entry))}) from ${escaped(file.label)}`;
  const isSure = isAtTerminal() && (await askYesNo(`Remove ${what}? [y/N] `, signal));
  if (isSure) return;
  signal.throwIfAborted();
  const why = isAtTerminal() ? "it was not confirmed" : "there is no terminal to confirm it at";
  const facts = { server: name, fix: `Add --yes: skillgate mcp remove ${name} --yes` };
  throw new SkillgateError("APPROVAL_MISSING", `Cannot remove ${name} from ${file.label}: ${why}`, facts);
}
