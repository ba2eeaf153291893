import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";

import { findFreePort } from "../../../support/servers/free-port.ts";
import { ended, type Ended, start } from "../../cli/command.ts";

export const TOKEN = "0123456789abcdef-token";

/** A server over HTTP whose program waits for its configuration. */
export interface LateServer {
  readonly child: ChildProcess;
  readonly url: string;
  readonly end: Promise<Ended>;
  /** Lets the program read its configuration, and start. */
  readonly go: () => void;
}

interface LateOptions {
  readonly flags?: readonly string[];
  readonly port?: number;
  /** The MCP servers of the configuration. */
  readonly mcpServers?: Readonly<Record<string, object>>;
}

/**
 * Starts `skillgate serve --http` in a folder, and waits until it listens. Its MCP configuration is a named pipe, which the
 * command reads before it listens, and which the program waits for when it reads it again.
 */
export async function startLate(
  cwd: string,
  { flags = ["--no-auth"], port: wantedPort, mcpServers = {} }: LateOptions = {},
): Promise<LateServer> {
  const port = wantedPort ?? (await findFreePort());
  const file = join(cwd, "late.json");
  const config = JSON.stringify({ mcpServers });
  rmSync(file, { force: true });
  execFileSync("mkfifo", [file]);
  const args = ["serve", "--http", "--port", String(port), "--mcp-config", "late.json", ...flags];
  const child = start(args, { cwd, env: { SKILLGATE_TOKEN: TOKEN } });
  const end = ended(child);
  const before = await retry(child, () => openForReader(file));
  writeSync(before, config);
  closeSync(before);
  await retry(child, () => connectTo(port));
  const pipe = await retry(child, () => openForReader(file));
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(pipe);
    isOpen = false;
  };
  onTestFinished(close);
  const go = (): void => {
    writeFileSync(`${file}.new`, config);
    renameSync(`${file}.new`, file);
    writeSync(pipe, config);
    close();
  };
  return { child, url: `http://127.0.0.1:${port}`, end, go };
}

/** Opens a named pipe that a program is reading; fails while no program reads it. */
function openForReader(file: string): number {
  return openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
}

async function connectTo(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
}

/** Repeats work until it succeeds; throws if the process ends before that. */
async function retry<Value>(child: ChildProcess, work: () => Promise<Value> | Value): Promise<Value> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (child.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
