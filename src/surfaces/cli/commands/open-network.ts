import { openServeLog } from "../serve-log.ts";
import type { CliSession, NetworkName } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** Opens the runtime of a process that is a member of a network. Throws a `UsageError` without an address of the network. */
export async function openNetwork<Name extends NetworkName>(
  session: CliSession,
  name: Name,
  changes: Readonly<Record<string, unknown>>,
) {
  const { settings, problems } = await session.readNetwork(name, changes);
  const [problem] = problems;
  if (problem !== undefined) throw new UsageError(problem.error);
  if (settings === undefined)
    throw new UsageError(`No network: write the address of a NATS server, or ${name}.url in the settings`);
  const log = openServeLog("text", { isVerbose: session.flags.verbose === true, paint: session.paint.err });
  const runtime = await session.openRuntime({ serve: { log: log.listener, [name]: false } });
  log.warn(session.telemetry.problems());
  await runtime.known;
  log.warn(runtime.problems);
  return { settings, log, runtime };
}
