import { execFile } from "node:child_process";

import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { ServerConfig } from "../server-config.ts";
import { childEnvironment, type ProcessEnvironment } from "../../../shared/process/child-environment.ts";

/** Time limit of a command; a person may have to unlock a vault. */
const COMMAND_MS = 60_000;

/** Maximum size of the output of a command. */
const MAX_OUTPUT_BYTES = 64 << 10;

/** Maximum number of characters of an error that are shown. */
const MAX_ERROR_CHARACTERS = 300;

interface CommandOptions {
  readonly env: ProcessEnvironment;
  readonly signal: AbortSignal;
  readonly secrets: KnownSecrets;
}

/** The outputs of the commands of a configuration, by the texts that stand for them. They are read once per server. */
const outputs = new WeakMap<ServerConfig, Promise<ReadonlyMap<string, string>>>();

/**
 * Runs the commands of a configuration, and puts their outputs in their places. The outputs become known secrets. Rejects with
 * `SERVER_FAILED`, which names the command.
 */
export async function fillInCommands<Config extends ServerConfig>(
  config: Config,
  options: CommandOptions,
): Promise<Config> {
  if (config.commands === undefined) return config;
  const running = outputs.get(config) ?? runCommands(config, options);
  outputs.set(config, running);
  try {
    const values = await running;
    const filled =
      config.transport === "stdio"
        ? { args: replaceAll(config.args, values), env: replaceAll(config.env, values) }
        : {
            url: replaceAll(config.url, values),
            headers: replaceAll(config.headers, values),
            ...(config.oauth !== undefined && { oauth: replaceAll(config.oauth, values) }),
          };
    return { ...config, ...filled };
  } catch (thrown) {
    forgetOutputs(config);
    throw thrown;
  }
}

/** Runs the commands again at the next start: a secret may have been replaced. */
export function forgetOutputs(config: ServerConfig): void {
  outputs.delete(config);
}

async function runCommands(config: ServerConfig, options: CommandOptions): Promise<ReadonlyMap<string, string>> {
  const values = new Map<string, string>();
  // One after the other: two vaults would ask at the same time.
  for (const [placeholder, words] of Object.entries(config.commands?.words ?? {}))
    values.set(placeholder, await runCommand(config, words, options));
  options.secrets.add(values.values());
  return values;
}

async function runCommand(
  config: ServerConfig,
  [program = "", ...args]: readonly string[],
  { env, signal, secrets }: CommandOptions,
): Promise<string> {
  const { cwd = process.cwd(), isOfUser = false } = config.commands ?? {};
  const fail = (why: string): SkillgateError => {
    const command = [program, ...args].join(" ");
    const message = sentence("SERVER_FAILED", secrets.maskText(`"${config.name}" needs "${command}", which ${why}`));
    return new SkillgateError("SERVER_FAILED", message, { server: config.name, command });
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      {
        cwd,
        env: isOfUser ? withoutToken(env) : childEnvironment(env, {}),
        timeout: COMMAND_MS,
        killSignal: "SIGKILL",
        maxBuffer: MAX_OUTPUT_BYTES,
        signal,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        const value = stdout.replace(/\r?\n$/, "");
        if (error !== null) reject(fail(describeFailure(error, stderr)));
        else if (value === "") reject(fail("printed nothing"));
        else if (/[^\P{Cc}\r\n\t]/u.test(value)) reject(fail("printed control characters"));
        else if (config.transport !== "stdio" && /[\r\n]/.test(value)) reject(fail("printed more than one line"));
        else resolve(value);
      },
    );
    child.stdin?.end();
  });
}

/** The token of Skillgate's own server gives access to everything that it serves. */
function withoutToken({ SKILLGATE_TOKEN: _token, ...env }: ProcessEnvironment): NodeJS.ProcessEnv {
  return env;
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

function replaceAll<Value>(value: Value, values: ReadonlyMap<string, string>): Value {
  const replace = (part: unknown): unknown => {
    if (typeof part === "string")
      return [...values].reduce((text, [from, to]) => text.replaceAll(from, () => to), part);
    if (Array.isArray(part)) return part.map(replace);
    return isRecord(part) ? Object.fromEntries(Object.entries(part).map(([key, item]) => [key, replace(item)])) : part;
  };
  return replace(value) as Value; // it has the same shape
}
