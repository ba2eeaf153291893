import type { Command } from "commander";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { CommandAction } from "../command-action.ts";
import { readTextFile } from "../input/read-text.ts";
import { UsageError } from "../usage-error.ts";
import { createAddedResult, scopeHelp } from "./answers.ts";
import { openConfig, SCOPE_OPTION, scopeNamed } from "./files.ts";

export function addMcpAddJson(mcp: Command, act: CommandAction): void {
  mcp
    .command("add-json")
    .description("add a server from JSON, in the format of any client")
    .argument("<name>", "name of the server")
    .argument("<json>", "its entry, or @file to read it from a file")
    .option(SCOPE_OPTION, "where to write it: project, local or user", "project")
    .addHelpText("after", `${EXAMPLE}\n${scopeHelp()}`)
    .action(
      act(async (session, name: string, json: string, { scope }: { readonly scope: string }) => {
        const files = await openConfig(session);
        const text = json.startsWith("@") ? await readTextFile(json.slice(1), session.signal) : json;
        const entry = entryIn(text, name);
        const written = await files.configModule.addDeclaredServer({ name, entry }, scopeNamed(scope), {
          config: files,
        });
        return createAddedResult(written, session.paint, files);
      }),
    );
}

const EXAMPLE = `
Example:
  skillgate mcp add-json weather '{ "command": "npx", "args": ["-y", "weather-mcp"] }'
`;

/** Reads an entry, or the only entry of a whole configuration that was copied from documentation. */
function entryIn(text: string, name: string): Readonly<Record<string, unknown>> {
  const value = parsed(text);
  const servers = isRecord(value) ? (value["mcpServers"] ?? value["servers"]) : undefined;
  if (!isRecord(servers)) return asEntry(value);
  const candidates = Object.hasOwn(servers, name) ? [servers[name]] : Object.values(servers);
  if (candidates.length === 1) return asEntry(candidates[0]);
  throw new UsageError(
    `Cannot tell which server is meant: there are ${candidates.length}; give the entry of one`,
    Object.keys(servers),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    // The message of JSON.parse quotes the text, which may contain a secret.
    const [, position] = /at (?:position )?(\d+|line \d+ column \d+)/.exec(getMessage(thrown)) ?? [];
    const at =
      position === undefined ? "" : `, at ${/^\d+$/.test(position) ? `character ${Number(position) + 1}` : position}`;
    throw new UsageError(`Cannot read the entry as a JSON object${at}; write '{ "command": "npx", "args": ["…"] }'`);
  }
}

function asEntry(value: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new UsageError(`Cannot read the entry as a JSON object; write '{ "command": "npx", "args": ["…"] }'`);
}
