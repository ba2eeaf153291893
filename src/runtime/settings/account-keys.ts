import { fillIn, splitWords, type Variables } from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import { runSecretCommand } from "../../shared/process/run-secret-command.ts";
import type { StoreLocation } from "../../store/index.ts";
import { getUserStateDir } from "../user-state-dir.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";

const COMMAND = /^\$\{cmd:([^{}]{1,1000})\}$/;

interface AccountKeyContext extends Pick<RuntimeSettings, "cwd" | "env"> {
  readonly variables: Variables;
}

/** Returns where the keys are that encrypt the credentials of accounts; reads nothing. `section` is the section `store`. */
export function readAccountKeys(
  section: unknown,
  { cwd, env, variables }: AccountKeyContext,
  { folder, url }: StoreLocation,
): RuntimeSettings["accountKeys"] {
  const written = isRecord(section) ? section["accountKey"] : undefined;
  return {
    variable: env["SKILLGATE_ACCOUNT_KEY"],
    readSetting: typeof written === "string" ? () => readSetting(written, { cwd, env, variables }) : undefined,
    folder: getUserStateDir(env),
    store: url !== undefined ? "url" : folder !== undefined ? "folder" : "memory",
  };
}

/** Returns the value of a variable, or what a command prints. */
async function readSetting(written: string, { cwd, env, variables }: AccountKeyContext): Promise<string> {
  const [, line] = COMMAND.exec(written) ?? [];
  if (line === undefined) return readVariable(written, variables);
  const words = splitWords(line) ?? [];
  if (words.length === 0) throw new Error(`its command is wrong: ${JSON.stringify(line)}`);
  const fail = (why: string): Error => new Error(`it needs "${words.join(" ")}", which ${why}`);
  return runSecretCommand(words, { cwd, env, isOfUser: false, isMultiline: true }, fail);
}

function readVariable(written: string, variables: Variables): string {
  const missing = new Set<string>();
  const value = fillIn(written, variables, missing);
  if (missing.size > 0) throw new Error(`${[...missing].join(", ")} is not set`);
  if (value === written) throw new Error("it must be a variable such as ${ACCOUNT_KEY}, or a command");
  return value;
}
