import type { ChildProcess } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
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
  /** Settles when the program waits for `go`. */
  readonly whenLate: () => Promise<void>;
}

interface LateOptions {
  readonly flags?: readonly string[];
  readonly port?: number;
  /** The part of the program that is loaded late; all of it by default. */
  readonly lateModule?: "/src/surfaces/cli/index.js" | "/src/runtime.js";
}

/** Starts `skillgate serve --http` in a folder, and waits until it listens. */
export async function startLate(
  cwd: string,
  { flags = ["--no-auth"], port: wantedPort, lateModule = "/src/surfaces/cli/index.js" }: LateOptions = {},
): Promise<LateServer> {
  const port = wantedPort ?? (await findFreePort());
  const goFile = join(cwd, "go");
  const preload = pathToFileURL(resolve("test/fixtures/late-program/preload.mjs")).href;
  const env = { NODE_OPTIONS: `--import=${preload}`, GO_FILE: goFile, LATE_MODULE: lateModule, SKILLGATE_TOKEN: TOKEN };
  const child = start(["serve", "--http", "--port", String(port), ...flags], { cwd, env });
  const whenLate = async (): Promise<void> => {
    while (!existsSync(`${goFile}.waits`)) await new Promise((done) => setTimeout(done, 20));
  };
  const url = `http://127.0.0.1:${port}`;
  const end = ended(child);
  await waitForListener(url, end);
  return { child, url, end, go: () => writeFileSync(goFile, ""), whenLate };
}

async function waitForListener(url: string, end: Promise<Ended>): Promise<void> {
  for (;;) {
    const outcome = await Promise.race([end, isListening(url)]);
    if (outcome === true) return;
    if (outcome !== false) throw new Error(`The server has ended: ${outcome.stderr}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** A server that listens does not answer this request before its program is loaded. */
async function isListening(url: string): Promise<boolean> {
  return fetch(url, { method: "HEAD", signal: AbortSignal.timeout(200) }).then(
    () => true,
    (error: unknown) => (error as Error).name === "TimeoutError",
  );
}
