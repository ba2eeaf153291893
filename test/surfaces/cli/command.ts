import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { on, once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, onTestFinished } from "vitest";

import { runCommandInProcess } from "./command-line.ts";

/** The compiled command. */
export const BIN = resolve("dist/src/bin.js");

export const FILESYSTEM_SERVER = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

/** `.mcp.json` with the real filesystem server on the project's own folder. */
export const MCP_JSON = JSON.stringify({
  mcpServers: { filesystem: { command: process.execPath, args: [FILESYSTEM_SERVER, "."] } },
});

/** A skill with a method for each way in which a call can end. */
export const MATH_SKILL = `
import { connect } from "node:net";

/** Does sums. */
export class MathSkill {
  /**
   * Add two numbers.
   * @param {number} a The first
   * @param {number} b The second
   * @returns {number} The sum
   */
  add(a, b) { return a + b; }

  /**
   * Say a text several times.
   * @param {string} text What to say
   * @param {number} [times] How often
   * @returns {string}
   */
  repeat(text, times = 1) { return text.repeat(times); }

  /**
   * Give back what came.
   * @param {any} value
   */
  echo(value) { return value; }

  /**
   * Fail.
   * @param {string} why
   */
  fail(why) { throw new Error(why); }

  /**
   * Never come to an end.
   * @param {string} [meetingPoint] Socket at which to say that the waiting has begun
   */
  async wait(meetingPoint) { if (meetingPoint) connect(meetingPoint); await new Promise(() => {}); }

  /**
   * Never come to an end in time.
   * @timeout 100ms
   */
  async late() { await new Promise(() => {}); }

  /**
   * Pay somebody.
   * @param {string} name
   * @param {number} amount
   * @returns {string}
   * @approval user
   */
  pay(name, amount) { return "paid " + amount + " to " + name; }
}
`;

export interface Ended {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Place {
  readonly cwd: string;
  /** The text on stdin, which then ends; stdin is never a terminal. */
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A temporary folder with files in it, and with a folder of skills, empty unless they are among the files. */
export function project(files: Readonly<Record<string, string>> = {}): string {
  return createProject(files, onTestFinished);
}

/**
 * Returns what creates one project for the tests of a file that change nothing in it: its store is created and its skills are
 * compiled once.
 */
export function shareProject(files: Readonly<Record<string, string>> = {}): () => string {
  const removals: (() => void)[] = [];
  afterAll(() => {
    for (const remove of removals) remove();
  });
  let folder: string | undefined;
  return () => (folder ??= createProject(files, (remove) => removals.push(remove)));
}

function createProject(files: Readonly<Record<string, string>>, onEnd: (remove: () => void) => void): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-cli-")));
  onEnd(() => rmSync(base, { recursive: true, force: true }));
  const folder = join(base, "project");
  mkdirSync(join(folder, "skills"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** Runs the command to its end, within the process of the test. */
export function skillgate(args: readonly string[], { cwd, input = "", env }: Place): Promise<Ended> {
  return runCommandInProcess(args, { cwd, input, env: environment(cwd, env) });
}

/** Runs the command to its end, in a process of its own. */
export async function runProcess(args: readonly string[], place: Place): Promise<Ended> {
  const child = start(args, place);
  child.stdin?.end(place.input ?? "");
  return ended(child);
}

export function start(args: readonly string[], { cwd, env }: Place): ChildProcess {
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env: environment(cwd, env), stdio: "pipe" });
  child.stdin?.on("error", () => {}); // it may end without having read everything
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

/** Without the user's own configuration, and in a project that the user trusts. */
export function environment(cwd: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: join(dirname(cwd), "home"), SKILLGATE_TRUSTED_FOLDERS: cwd, ...more };
}

export async function ended(child: ChildProcess): Promise<Ended> {
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => (stream === null ? "" : text(stream)));
  const [exit] = (await once(child, "close")) as [number | null];
  return { exit, stdout: (await stdout) ?? "", stderr: (await stderr) ?? "" };
}

/** A process that has come to a meeting point: it stays connected as long as it lives. */
export interface Life {
  readonly ended: Promise<unknown>;
}

/** A socket in a folder, at which processes can say that they live. */
export async function meetingPoint(
  folder: string,
): Promise<{ readonly path: string; readonly next: () => Promise<Life> }> {
  const path = join(folder, "meeting-point");
  const server = createServer();
  const arrivals = on(server, "connection");
  onTestFinished(() => void server.close());
  server.listen(path);
  await once(server, "listening");
  return {
    path,
    async next() {
      const { value } = await arrivals.next();
      const [socket] = value as [Socket];
      return { ended: once(socket.on("error", () => {}).resume(), "close") };
    },
  };
}

/** A terminal for a child process, by `script` of util-linux, which not every system has. */
export const HAS_TERMINAL =
  spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false;
