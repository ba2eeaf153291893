import type { CliSession } from "./session.ts";
import type { CommandResult } from "./terminal/terminal.ts";

/** Makes what a command does into an action of commander's: the session is opened, the answer shown, the exit code kept. */
export type CommandAction = <Args extends readonly unknown[]>(
  command: (session: CliSession, ...args: Args) => Promise<CommandResult>,
) => (...args: Args) => Promise<void>;
