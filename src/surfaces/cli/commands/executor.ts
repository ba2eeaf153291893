import type { CliCommand, CommandResult } from "../command.ts";
import { openNetwork } from "./open-network.ts";
import type { CliSession } from "../session.ts";
import { waitForInterruption } from "../terminal/interruption.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import { wholeNumber } from "../input/option-values.ts";

interface ExecutorFlags {
  readonly name?: string;
  readonly credentials?: string;
  readonly key?: string;
  readonly concurrency?: number;
  readonly drainSeconds: number;
}

const DEFAULT_DRAIN_SECONDS = 60;

export function addExecutor(program: CliCommand): void {
  program
    .command("executor")
    .description("execute the programs that skillgate serve --executors hands out, until SIGTERM or Ctrl-C")
    .argument("[url]", "the NATS server, nats://host:4222 (default: executors.url of the settings)")
    .option("--name <name>", "the name of this process (default: executors.name of the settings, else the host name)")
    .option("--credentials <file>", "a file of NATS credentials")
    .option("--key <file>", "the private key of this machine, from skillgate node key")
    .option("--concurrency <runs>", "the most runs at once (default: 1000)", wholeNumber)
    .option("--drain-seconds <seconds>", "how long it finishes its runs at the end", wholeNumber, DEFAULT_DRAIN_SECONDS)
    .addHelpText("after", HELP)
    .run(execute);
}

const HELP = `
It needs the same project, settings and store as the server: another version of them gets no programs.

Examples:
  skillgate executor nats://hub:4222
  skillgate serve --http --executors nats://hub:4222`;

async function execute(session: CliSession, url: string | undefined, flags: ExecutorFlags): Promise<CommandResult> {
  const { drainSeconds, ...changes } = flags;
  const { settings, log, runtime } = await openNetwork(session, "executors", withoutGaps({ ...changes, url }));
  if (settings.peers.size === 0)
    log.say("There are no keys: each client of the NATS server can run programs as every caller", "warn");
  const { createVersionReader, startExecutor } = await import("../../../executors/index.ts");
  const { database } = await session.folders();
  const executor = await startExecutor({
    settings,
    runtime,
    readVersion: createVersionReader(() => runtime, database),
    warn: (text) => log.say(text, "warn"),
    onState: (text) => log.say(`Executor ${settings.device}: ${text}`),
  });
  await waitForInterruption(session.signal);
  log.say(`Executor ${settings.device}: finishing ${executor.jobs} runs`);
  await executor.drain(drainSeconds * 1_000);
  await runtime.close();
  await executor.close();
  session.finish();
  return { json: {}, text: "" };
}
