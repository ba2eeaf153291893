import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

import { findFreePort } from "./free-port.ts";
import { reportMissingServer } from "./require-server.ts";

/** A NATS server for the tests of one file. It keeps its port when it starts again. */
export interface NatsServer {
  readonly url: string;
  /** Ends it at once, with the connections that are open. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** The program; `undefined` on a machine without it. A build server must have it. */
export const NATS_SERVER = findProgram();

if (NATS_SERVER === undefined)
  reportMissingServer(
    "the tests with NATS, because nats-server is not installed (Debian: apt-get install nats-server)",
  );

/** Starts a server in a temporary folder. `config` is the text of its configuration file. */
export async function startNats(config = ""): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-nats-"));
  const port = await findFreePort();
  const file = join(folder, "nats.conf");
  writeFileSync(file, `listen: "127.0.0.1:${port}"\n${config}\n`);
  let server: ReturnType<typeof spawn> | undefined;
  const start = async (): Promise<void> => {
    const child = spawn(NATS_SERVER ?? "nats-server", ["-c", file], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    server = child;
    for await (const line of createInterface(child.stderr)) if (line.includes("Server is ready")) break;
    child.stderr.resume();
  };
  const kill = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    start,
    async close() {
      await kill();
      rmSync(folder, { recursive: true });
    },
  };
}

function findProgram(): string | undefined {
  const folders = ["/usr/sbin", ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, "nats-server")).find(existsSync);
}
