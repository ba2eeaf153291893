import { fillIn, splitWords, type Variables } from "../../config/index.ts";
import { runSecretCommand } from "../../shared/process/run-secret-command.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";

export interface SecretContext extends Pick<RuntimeSettings, "cwd" | "env"> {
  readonly variables: Variables;
}

const COMMAND = /^\$\{cmd:([^{}]{1,1000})\}$/;

/** True for a reference to a command: `${cmd:pass show key}`. */
export function isCommandReference(reference: string): boolean {
  return COMMAND.test(reference);
}

/** Returns the value of a variable, or the output of a command. Rejects with the reason for any other text. */
export async function readSecretReference(reference: string, { cwd, env, variables }: SecretContext): Promise<string> {
  const [, line] = COMMAND.exec(reference) ?? [];
  if (line === undefined) return readVariable(reference, variables);
  const words = splitWords(line) ?? [];
  if (words.length === 0) throw new Error(`its command is wrong: ${JSON.stringify(line)}`);
  const fail = (why: string): Error => new Error(`it needs "${words.join(" ")}", which ${why}`);
  return runSecretCommand(words, { cwd, env, isOfUser: false, isMultiline: true }, fail);
}

function readVariable(reference: string, variables: Variables): string {
  const missing = new Set<string>();
  const value = fillIn(reference, variables, missing);
  if (missing.size > 0) throw new Error(`${[...missing].join(", ")} is not set`);
  if (value === reference) throw new Error("it must be a variable such as ${ACCOUNT_KEY}, or a command");
  return value;
}
