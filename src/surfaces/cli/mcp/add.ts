import type { Command } from "commander";

import type { CommandAction } from "../command-action.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../input/whole-number.ts";
import { createEntry, type ServerFlags, takesServerFlags, withoutGaps } from "./server-flags.ts";
import { openConfig, SCOPE_OPTION, scopeNamed } from "./files.ts";
import { createAddedResult, scopeHelp } from "./answers.ts";

interface AddFlags extends ServerFlags {
  readonly scope: string;
  readonly clientId?: string;
  readonly callbackPort?: number;
}

export function addMcpAdd(mcp: Command, act: CommandAction): void {
  takesServerFlags(mcp.command("add"))
    .description("add a server")
    .argument("<name>", "name of the server")
    .argument("<commandOrUrl>", "the command that starts it, or its URL")
    .argument("[args...]", "arguments of the command; write -- before a command whose arguments begin with -")
    .option(SCOPE_OPTION, "where to write it: project, local or user", "project")
    .option("--client-id <id>", "the OAuth client id of Skillgate")
    .option("--callback-port <port>", "the local port of the OAuth redirect", wholeNumber)
    .addHelpText("after", `${EXAMPLES}\n${scopeHelp()}`)
    .action(
      act(async (session, name: string, commandOrUrl: string, args: readonly string[], flags: AddFlags) => {
        const files = await openConfig(session);
        const server = describeServer([name, commandOrUrl, ...args], flags);
        const entry = { ...createEntry(server.commandOrUrl, server.args, server.flags), ...getOAuthFlags(flags) };
        const written = await files.configModule.addDeclaredServer(
          { name: server.name, entry },
          scopeNamed(flags.scope),
          { config: files },
        );
        return createAddedResult(written, session.paint, files);
      }),
    );
}

const EXAMPLES = `
Examples:
  skillgate mcp add filesystem -- npx -y @modelcontextprotocol/server-filesystem .
  skillgate mcp add github -e GITHUB_TOKEN='\${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
  skillgate mcp add --transport http context7 https://mcp.context7.com/mcp -H "Authorization: Bearer \${KEY}"
`;

function getOAuthFlags({ clientId, callbackPort }: AddFlags): { readonly oauth?: unknown } {
  const oauth = withoutGaps({ clientId, callbackPort });
  return Object.keys(oauth).length === 0 ? {} : { oauth };
}

interface GivenFlags {
  readonly name: string;
  readonly commandOrUrl: string;
  readonly args: readonly string[];
  readonly flags: ServerFlags;
}

/** Other clients accept several values after one `-e`: `-e A=1 B=2 name …`. Takes them from the words. */
function describeServer(words: readonly string[], flags: ServerFlags): GivenFlags {
  const { env = [], header = [] } = flags;
  const isValue = (word: string): boolean =>
    (env.length > 0 && /^[A-Za-z_]\w*=/.test(word)) || (header.length > 0 && /^[\w-]+: /.test(word));
  const first = words.findIndex((word) => !isValue(word));
  const values = words.slice(0, Math.max(first, 0));
  const [name, commandOrUrl, ...args] = words.slice(values.length);
  if (name === undefined || commandOrUrl === undefined)
    throw new UsageError("Missing required argument 'commandOrUrl'; see skillgate mcp add --help");
  const more = {
    ...(env.length > 0 && { env: [...env, ...values.filter((value) => !/^[\w-]+: /.test(value))] }),
    ...(header.length > 0 && { header: [...header, ...values.filter((value) => /^[\w-]+: /.test(value))] }),
  };
  return { name, commandOrUrl, args, flags: { ...flags, ...more } };
}
