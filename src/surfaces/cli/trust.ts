import { resolve } from "node:path";

import type { CliCommand, CommandResult } from "./command.ts";
import { type CommandConfig, loadConfigModule, openConfig } from "./mcp/files.ts";
import type { CliSession } from "./session.ts";
import { requestText, requireYes } from "./terminal/ask.ts";
import { count, escaped, lines } from "./text/layout.ts";
import { UsageError } from "./usage-error.ts";

export function addTrust(program: CliCommand): void {
  const trust = program
    .command("trust")
    .description("trust this folder's skills, servers, variables and settings until others change them")
    .option("-y, --yes", "skip the confirmation")
    .addHelpText("after", HELP)
    .run(async (session, { yes }: { readonly yes?: true }) => {
      // Files that the command line names are not part of the folder.
      const files = await openConfig({ ...session, flags: {}, addProblems: () => {} });
      return trustFolder(files, yes === true, session);
    });
  trust
    .command("list")
    .description("list the trusted folders, and what has changed in them")
    .run(async () => listTrustedFolders());
  trust
    .command("revoke")
    .description("stop trusting a folder")
    .argument("[folder]", "the folder", ".")
    .run(async (_session, folder: string) => revokeFolder(folder));
}

const HELP = `
A folder from another source can start anything. Until you trust it, its skills are not imported, its servers are not
started, its .env sets no variables, and its settings relax no restriction. At a terminal, Skillgate asks you; without a
terminal, it does not use them. Of a trusted folder, only the files are held that others have changed: by a pull, a merge or a
checkout. With SKILLGATE_TRUST=content, each change is held. With SKILLGATE_UNAPPROVED=start, for builds, it uses them without asking.
Skillgate does not ask about your own files, about files that --mcp-config, --settings or --skills names, about the files
that skillgate init and skillgate mcp add write, or in the folders that SKILLGATE_TRUSTED_FOLDERS lists.

Examples:
  skillgate trust
  skillgate trust --yes
  skillgate trust list
  skillgate trust revoke`;

async function trustFolder(
  { configModule, options, trust, heldParts: parts }: CommandConfig,
  isSure: boolean,
  { signal }: CliSession,
): Promise<CommandResult> {
  const { folder, changed, excess } = trust;
  const answer = (text: string): CommandResult => ({ json: { trusted: folder, parts }, text });
  if (trust.isGiven) return answer(`${escaped(folder)} is already trusted and needs no record`);
  if (trust.isTrusted) return answer(`${escaped(folder)} is already trusted`);
  if (excess !== undefined)
    throw new UsageError(`Cannot trust ${escaped(folder)}: ${excess}; name the folder with --skills`);
  const request = requestText({ folder, isChanged: changed.length > 0, parts });
  if (!isSure)
    await requireYes(`${request}\nTrust it until others change it?`, signal, {
      refusal: (why) => `Cannot trust this folder: ${why}. ${request}`,
      facts: { fix: "Review the list, then run: skillgate trust --yes" },
    });
  await configModule.trustProject(options, trust);
  const what = `Trusted ${escaped(folder)} until others change it`;
  return { ...answer(what), remarks: isSure && parts.length > 0 ? request : "" };
}

async function listTrustedFolders(): Promise<CommandResult> {
  const { listTrust, loadConfig } = await loadConfigModule();
  const folders = await listTrust({ cwd: process.cwd(), env: process.env });
  const states = await Promise.all(
    folders.map(async (folder) => {
      const { trust } = await loadConfig({ cwd: folder, env: process.env });
      return { folder, isTrusted: trust.isTrusted, changed: trust.changed };
    }),
  );
  return {
    json: { folders: states },
    text:
      lines(
        states.map(({ folder, changed }) => {
          return `${escaped(folder)}  ${changed.length === 0 ? "trusted" : `${count(changed.length, "change")} since: ${changed.map(escaped).join(", ")}`}`;
        }),
      ) || "No folder is trusted",
  };
}

async function revokeFolder(folder: string): Promise<CommandResult> {
  const path = resolve(folder);
  const { revokeTrust } = await loadConfigModule();
  const wasTrusted = await revokeTrust({ cwd: path, env: process.env }, path);
  const text = wasTrusted ? `${escaped(path)} is no longer trusted` : `${escaped(path)} was not trusted`;
  return { json: { folder: path, wasTrusted }, text };
}
