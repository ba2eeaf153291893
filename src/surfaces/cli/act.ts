import type { Session } from "./session.ts";
import type { Answer } from "./terminal.ts";

/** Makes what a command does into an action of commander's: the session is opened, the answer shown, the exit code kept. */
export type Act = <Args extends readonly unknown[]>(
  command: (session: Session, ...args: Args) => Promise<Answer>,
) => (...args: Args) => Promise<void>;
