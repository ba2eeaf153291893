import type { CliSession } from "./session.ts";
import type { CommandResult } from "./terminal/terminal.ts";

/** Turns a command into a commander action that opens the session, shows the result and records the exit code. */
export type CommandAction = <Args extends readonly unknown[]>(
  command: (session: CliSession, ...args: Args) => Promise<CommandResult>,
) => (...args: Args) => Promise<void>;
