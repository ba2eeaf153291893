import { execFile } from "node:child_process";

import { isRecord } from "../../model/json.ts";
import { truncateText } from "../format-text.ts";
import { childEnvironment, type ProcessEnvironment, withoutOwnSecrets } from "./child-environment.ts";

/** Time limit of a command; a person may have to unlock a vault. */
const COMMAND_MS = 60_000;

/** Maximum size of the output of a command. */
const MAX_OUTPUT_BYTES = 64 << 10;

/** Maximum number of characters of an error that are shown. */
const MAX_ERROR_CHARACTERS = 300;

interface SecretCommandOptions {
  readonly cwd: string;
  readonly env: ProcessEnvironment;
  /** Passes on the whole environment, to a command that the user declares. */
  readonly isOfUser: boolean;
  readonly isMultiline: boolean;
  readonly signal?: AbortSignal;
}

/** Runs a command that prints a secret, and returns what it prints. Rejects with the error that `fail` creates of the reason. */
export async function runSecretCommand(
  [program = "", ...args]: readonly string[],
  { cwd, env, isOfUser, isMultiline, signal }: SecretCommandOptions,
  fail: (why: string) => Error,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      {
        cwd,
        env: isOfUser ? withoutOwnSecrets(env) : childEnvironment(env, {}),
        timeout: COMMAND_MS,
        killSignal: "SIGKILL",
        maxBuffer: MAX_OUTPUT_BYTES,
        windowsHide: true,
        ...(signal !== undefined && { signal }),
      },
      (error, stdout, stderr) => {
        const value = stdout.replace(/\r?\n$/, "");
        if (error !== null) reject(fail(describeFailure(error, stderr)));
        else if (value === "") reject(fail("printed nothing"));
        else if (/[^\P{Cc}\r\n\t]/u.test(value)) reject(fail("printed control characters"));
        else if (!isMultiline && /[\r\n]/.test(value)) reject(fail("printed more than one line"));
        else resolve(value);
      },
    );
    child.stdin?.end();
  });
}

/** Describes a failure without the standard output, which may have a secret. */
function describeFailure(error: unknown, stderr: string): string {
  const { code, killed, signal } = isRecord(error) ? error : {};
  const printed = stderr.trim() === "" ? "" : `: ${truncateText(stderr.trim(), MAX_ERROR_CHARACTERS)}`;
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `printed more than ${MAX_OUTPUT_BYTES >> 10} KB`;
  if (code === "ABORT_ERR") return "was cancelled";
  if (code === "ENOENT") return "does not exist";
  if (killed === true) return `did not end within ${COMMAND_MS / 1_000} s${printed}`;
  if (typeof code === "number") return `exited with code ${code}${printed}`;
  return typeof signal === "string" ? `was ended by ${signal}${printed}` : `cannot be started (${String(code)})`;
}
