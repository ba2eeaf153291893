import type { ChildProcess } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { findFreePort } from "../../../support/servers/free-port.ts";
import { ended, type Ended, start } from "../../cli/command.ts";

export const TOKEN = "0123456789abcdef-token";

/** A server over HTTP whose program is loaded late. */
export interface LateServer {
  readonly child: ChildProcess;
  readonly url: string;
  readonly end: Promise<Ended>;
  /** Lets the program be loaded. */
  readonly go: () => void;
}

interface LateOptions {
  readonly flags?: readonly string[];
  readonly port?: number;
  /** The part of the program that is loaded late: all of it by default, or the runtime. */
  readonly lateChunk?: "cli" | "runtime";
}

/** Starts `skillgate serve --http` in a folder, and waits until it listens and would load its program. */
export async function startLate(
  cwd: string,
  { flags = ["--no-auth"], port: wantedPort, lateChunk = "cli" }: LateOptions = {},
): Promise<LateServer> {
  const port = wantedPort ?? (await findFreePort());
  const goFile = join(cwd, "go");
  for (const file of [goFile, `${goFile}.waits`]) rmSync(file, { force: true });
  const preload = pathToFileURL(resolve("test/fixtures/late-program/preload.mjs")).href;
  const NODE_OPTIONS = `--import=${preload}`;
  const env = { NODE_OPTIONS, GO_FILE: goFile, LATE_CHUNK: lateChunk, SKILLGATE_TOKEN: TOKEN };
  const child = start(["serve", "--http", "--port", String(port), ...flags], { cwd, env });
  const end = ended(child);
  while (!existsSync(`${goFile}.waits`)) {
    if (child.exitCode !== null) throw new Error(`The server has ended: ${(await end).stderr}`);
    await new Promise((done) => setTimeout(done, 20));
  }
  return { child, url: `http://127.0.0.1:${port}`, end, go: () => writeFileSync(goFile, "") };
}
