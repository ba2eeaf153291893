import type { Command } from "commander";

import { messageOf } from "../../../errors.ts";
import { nearest } from "../../../model/nearest.ts";
import type { Act } from "../act.ts";
import { lines } from "../output.ts";
import type { Session } from "../session.ts";
import { UsageError } from "../usage-error.ts";
import { scopeHelp } from "./answers.ts";
import { type Files, openFiles, SCOPE_OPTION, scopeNamed } from "./files.ts";
import type { Client, ClientFile } from "./room.ts";
import { writeServer, type Written } from "./write.ts";

interface ImportFlags {
  readonly scope?: string;
  readonly dryRun?: true;
}

export function addMcpImport(mcp: Command, act: Act): void {
  mcp
    .command("import")
    .description("take over the servers of other clients, from their files")
    .argument(
      "[clients...]",
      "claude-code, claude-desktop, cursor, vscode, codex, opencode, windsurf, gemini, zed; all by default",
    )
    .option(
      SCOPE_OPTION,
      "where to write them; by default a client's own servers to user, those of its project to project",
    )
    .option("-n, --dry-run", "only say what would be taken over")
    .addHelpText("after", `\nExample:\n  skillgate mcp import cursor --dry-run\n\n${scopeHelp()}`)
    .action(
      act(async (session, names: readonly string[], flags: ImportFlags) => {
        const files = await openFiles(session);
        const found = await findServers(names, files);
        const taken: Taken[] = [];
        for (const server of found.servers) taken.push(await take(server, flags, session));
        return {
          exit: "ok",
          json: answerOf(taken, found.problems, flags),
          text: lines(taken.map((each) => takenText(each, flags))) || "There is nothing to import",
          remarks: lines(found.problems),
        };
      }),
    );
}

/** A server of another client, before it is ours. */
interface Found {
  readonly name: string;
  readonly entry: unknown;
  readonly client: Client;
  readonly from: ClientFile;
  readonly scope: "user" | "project";
}

type Taken = Found &
  ({ readonly kind: "added"; readonly written: Written } | { readonly kind: "skipped"; readonly why: string });

async function findServers(
  names: readonly string[],
  { room, options }: Files,
): Promise<{ readonly servers: readonly Found[]; readonly problems: readonly string[] }> {
  const clients = names.length === 0 ? room.CLIENTS : names.map((name) => clientFrom(name, room));
  const servers: Found[] = [];
  const problems: string[] = [];
  for (const client of clients) {
    for (const scope of ["user", "project"] as const) {
      const from = room.clientFile(client, scope, options);
      // The project's file of Claude Code is one of ours.
      if (from?.exists !== true || (scope === "project" && client.project === ".mcp.json")) continue;
      try {
        const entries = await room.serversOf(client, from, options);
        servers.push(...entries.map(([name, entry]) => ({ name, entry, client, from, scope })));
      } catch (thrown) {
        problems.push(messageOf(thrown));
      }
    }
  }
  return { servers, problems };
}

export function clientFrom(name: string, { CLIENTS, clientNamed }: Files["room"]): Client {
  const client = clientNamed(name);
  if (client !== undefined) return client;
  const ids = CLIENTS.map(({ id }) => id);
  const meant = nearest(name, [...ids, ...CLIENTS.flatMap(({ aliases }) => aliases)]);
  const hint = meant.length === 0 ? `known are ${ids.join(", ")}` : `did you mean ${meant.join(" or ")}?`;
  throw new UsageError(`There is no client ${JSON.stringify(name)}; ${hint}`, meant);
}

async function take(found: Found, { scope, dryRun }: ImportFlags, session: Session): Promise<Taken> {
  const files = await openFiles(session); // with what was taken before
  const { room } = files;
  const { name, client } = found;
  const entry = room.plainEntry(found.entry, client.id);
  if (entry === undefined) return { ...found, kind: "skipped", why: "it says neither a command nor a URL" };
  if (room.isSkillgate(entry)) return { ...found, kind: "skipped", why: "it is Skillgate itself" };
  const existing = files.declared.find((server) => server.name === name);
  if (existing !== undefined)
    return { ...found, kind: "skipped", why: `there is one of this name in ${existing.file.label}` };
  const wanted = scope === undefined ? found.scope : scopeNamed(scope);
  try {
    const written =
      dryRun === true
        ? { name, file: (await room.writtenAt(wanted, files.options)).label, entry: room.maskedEntry(entry) }
        : await writeServer({ name, entry }, wanted, { files, session });
    return { ...found, kind: "added", written };
  } catch (thrown) {
    return { ...found, kind: "skipped", why: messageOf(thrown) };
  }
}

function answerOf(
  taken: readonly Taken[],
  problems: readonly string[],
  { dryRun = false }: { readonly dryRun?: boolean },
) {
  const from = ({ client, from }: Found): { client: string; from: string } => ({ client: client.id, from: from.label });
  return {
    dryRun,
    imported: taken.flatMap((each) => (each.kind === "added" ? [{ ...each.written, ...from(each) }] : [])),
    skipped: taken.flatMap((each) =>
      each.kind === "skipped" ? [{ name: each.name, why: each.why, ...from(each) }] : [],
    ),
    problems,
  };
}

function takenText(taken: Taken, { dryRun }: ImportFlags): string {
  const from = `${taken.name} from ${taken.client.title} (${taken.from.label})`;
  switch (taken.kind) {
    case "added":
      return `${dryRun === true ? "Would import" : "Imported"} ${from} to ${taken.written.file}`;
    case "skipped":
      return `Left out ${from}: ${taken.why}`;
  }
}
