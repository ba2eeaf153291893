import type { CliSession } from "../session.ts";
import { type OperationFlags, performAtSocket } from "../socket/client.ts";
import { showLiveOutput } from "../terminal/live-output.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { performCall } from "./call.ts";
import type { CommandOperation, OperationContext } from "./operation.ts";
import { performRun } from "./run.ts";

/** Performs an operation in the process that serves the project, if there is one, else in this process. */
export async function performOperation(
  operation: CommandOperation,
  flags: OperationFlags,
  session: CliSession,
): Promise<CommandResult> {
  return (await performAtSocket(operation, flags, session)) ?? performHere(operation, flags, session);
}

async function performHere(
  operation: CommandOperation,
  { yes }: OperationFlags,
  session: CliSession,
): Promise<CommandResult> {
  const { readyRuntime, signal, flags, paint } = session;
  const runtime = await session.runtime(yes && { approve: () => true });
  const context: OperationContext = {
    runtime,
    whenKnown: readyRuntime,
    signal,
    paint: paint.err,
    isVerbose: flags.verbose === true,
    isTerminal: process.stderr.isTTY,
    options: {},
  };
  const endLiveOutput = showLiveOutput(runtime, session);
  const performed = operation.kind === "run" ? performRun(operation, context) : performCall(operation, context);
  return performed.finally(endLiveOutput);
}
