import { resolve } from "node:path";

import { getMessage } from "../../../errors.ts";
import type { LogListener } from "../../../runtime/options.ts";
import type { Runtime } from "../../../runtime.ts";
import { type CliSession, getRuntimeOptions } from "../session.ts";
import { listFlagFiles } from "./client.ts";
import { rememberProject } from "./project-state.ts";
import { openProjectSocket, type ProjectSocket } from "./server.ts";

export interface CommandServerOptions {
  readonly runtime: Runtime;
  readonly session: Pick<CliSession, "flags" | "folders" | "signal">;
  /** Time that commands in progress have to finish when the server stops. */
  readonly drainMs: number;
  readonly log: LogListener;
}

/** Lets commands of the same user use the runtime of a server, until it stops. Returns the function that stops this. */
export function serveCommands({ runtime, session, drainMs, log }: CommandServerOptions): () => Promise<void> {
  const opened = open(runtime, session).then(
    (socket) => {
      log("info", "Commands of this project use the runtime of this process");
      return socket;
    },
    (error: unknown) => {
      log("warn", `Commands of this project start their own skills and servers: ${getMessage(error)}`);
      return undefined;
    },
  );
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= opened.then((socket) => socket?.close(drainMs)));
  session.signal.addEventListener("abort", () => void close(), { once: true });
  return close;
}

async function open(runtime: Runtime, { flags, folders }: CommandServerOptions["session"]): Promise<ProjectSocket> {
  const cwd = resolve(".");
  const { readOptions } = await import("../../../runtime/settings/index.ts");
  const options = { ...getRuntimeOptions(flags), ...(flags.skills !== undefined && { skillsDir: flags.skills }) };
  const state = await rememberProject({
    cwd,
    settings: flags.settings,
    mcpConfig: flags.mcpConfig,
    skillsFolder: (await folders()).skills,
    readProblems: async () => (await readOptions(options)).problems,
    runtime,
  });
  return openProjectSocket({ runtime, state, cwd, files: listFlagFiles(flags) });
}
