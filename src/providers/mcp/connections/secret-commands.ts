import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { ServerConfig } from "../server-config.ts";
import type { ProcessEnvironment } from "../../../shared/process/child-environment.ts";
import { runSecretCommand } from "../../../shared/process/run-secret-command.ts";

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
  words: readonly string[],
  { env, signal, secrets }: CommandOptions,
): Promise<string> {
  const { cwd = process.cwd(), isOfUser = false } = config.commands ?? {};
  const command = words.join(" ");
  const isMultiline = config.transport === "stdio";
  return runSecretCommand(words, { cwd, env, isOfUser, isMultiline, signal }, (why) => {
    const message = sentence("SERVER_FAILED", secrets.maskText(`"${config.name}" needs "${command}", which ${why}`));
    return new SkillgateError("SERVER_FAILED", message, { server: config.name, command });
  });
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
