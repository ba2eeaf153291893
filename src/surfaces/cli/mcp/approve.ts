import type { Command } from "commander";

import type { Act } from "../act.ts";
import { lines } from "../layout.ts";
import { declaredNamed, openFiles } from "./files.ts";

export function addMcpApprove(mcp: Command, act: Act): void {
  mcp
    .command("approve")
    .description("allow servers to start that files of this folder declare, until they change")
    .argument("[names...]", "names of servers; all by default")
    .addHelpText("after", HELP)
    .action(
      act(async (session, names: readonly string[]) => {
        const files = await openFiles(session);
        const { room, options, declared } = files;
        const meant = names.length === 0 ? declared : names.map((name) => declaredNamed(name, files));
        const open = meant.filter(
          ({ approval, config, isOverruled }) => approval !== "approved" && config !== undefined && !isOverruled,
        );
        await room.approveServers(options, open);
        const approved = open.map(({ name, file, entry }) => ({
          name,
          file: file.label,
          starts: room.shownServer(entry),
        }));
        return {
          exit: "ok",
          json: { approved },
          text:
            lines(approved.map(({ name, starts }) => `Approved ${name}: ${starts}`)) ||
            "Nothing is waiting for an approval",
        };
      }),
    );
}

const HELP = `
A file that came with a project can start any program, so it is asked about once, and again when it changes.
Without a terminal there is nobody to ask: what is new then starts, what has changed since it was approved does not.
With SKILLGATE_UNAPPROVED=hold nothing starts that was not approved.
No question is asked for your own files, for files that --mcp-config or --settings names, for what you add with
skillgate mcp add, and in the folders that SKILLGATE_TRUSTED_FOLDERS lists.

Example:
  skillgate mcp approve filesystem`;
