import { Command, type HelpContext } from "commander";

import type { Exit } from "./exit-codes.ts";
import type { CliSession } from "./session.ts";

/** The result of a command, for programs and for people. */
export interface CommandResult {
  /** By default, `ok`. */
  readonly exit?: Exit;
  /** The object that `--json` prints; `undefined` if the command has printed its result as lines. */
  readonly json: unknown;
  /** For people, on stdout. */
  readonly text: string;
  /** For people, on stderr. */
  readonly remarks?: string;
  /** For both, on stderr: warnings, and extra output such as a trace. */
  readonly asides?: string;
  /** True if the command was interrupted: the remarks name the signal. */
  readonly isInterrupted?: true;
  /** True if the command has shown the problems of the configuration already. */
  readonly isWarned?: true;
  /** True for a server that has answered every request. Its end by SIGTERM is then a success. */
  readonly isDrained?: boolean;
}

/** Turns a command into a commander action that opens the session, shows the result and records the exit code. */
export type CommandAction = <Args extends readonly unknown[]>(
  command: (session: CliSession, ...args: Args) => Promise<CommandResult>,
) => (...args: Args) => Promise<void>;

/** A command that runs with a session, and returns what to show. */
export class CliCommand extends Command {
  readonly #act: CommandAction;

  constructor(name: string | undefined, act: CommandAction) {
    super(name);
    this.#act = act;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name, this.#act);
  }

  /** Shows the help. If an unknown command is asked about, only its error is shown. */
  override outputHelp(context?: HelpContext | ((text: string) => string)): void {
    const [first, second] = this.args;
    const name = first === "help" ? second : first; // commander has run a command that it knows
    if (this.commands.length > 0 && name?.startsWith("-") === false) this.error(`unknown command '${name}'`);
    super.outputHelp(context as HelpContext);
  }

  /** Sets the work of the command. It gets the arguments and the options, as `action` does. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the type
  run<Args extends readonly unknown[]>(command: (session: CliSession, ...args: Args) => Promise<CommandResult>): this {
    return this.action(this.#act(command));
  }
}
