import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, delimiter, parse } from "node:path";
import { createInterface } from "node:readline";

import { SkillgateError } from "../../../errors.ts";
import { isRecord, parseJson, toRecord } from "../../../model/json.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";
import type { StartCommand } from "./start-command.ts";

/** npx may download the package first. */
const MAX_START_MS = 60_000;

const MAX_END_MS = 5_000;

const MAX_REASON_LINES = 5;

/**
 * Starts a server as a client does, lists its resources, and ends it. The `PATH` is empty, because clients that are not started
 * from a shell have none of the user's folders in it. Throws `SERVER_FAILED` with the end of stderr if no answer comes.
 */
export async function checkStart(
  command: StartCommand,
  { cwd = parse(process.cwd()).root, signal }: { readonly cwd?: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const child = spawn(command.command, [...command.args], {
    cwd,
    env: createEnvironment(process.env, command.needsPath),
    stdio: "pipe",
  });
  const errors: string[] = [];
  const stop = (): void => void child.kill();
  signal.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(stop, MAX_START_MS);
  try {
    child.stdin.on("error", () => {}); // the process has ended, which its output explains
    child.stdin.write(REQUESTS.map((message) => `${JSON.stringify(message)}\n`).join(""));
    createInterface({ input: child.stderr }).on("line", (line) => errors.push(line));
    if (await hasAnswer(child)) return;
    signal.throwIfAborted();
    throw createStartError(command, errors);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    await end(child);
  }
}

const LAST_REQUEST_ID = 2;

/** The first request is answered before the project is loaded, the last one only afterwards. */
const REQUESTS = [
  {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "skillgate-connect", version: "1" },
    },
  },
  { jsonrpc: "2.0", method: "notifications/initialized" },
  { jsonrpc: "2.0", id: LAST_REQUEST_ID, method: "resources/list" },
];

/** The environment of a client without the user's `PATH`. For npx it has the folders of Node and of the system. */
function createEnvironment(env: NodeJS.ProcessEnv, needsPath: boolean): NodeJS.ProcessEnv {
  const others = Object.entries(env).filter(([name]) => name.toUpperCase() !== "PATH");
  const path = [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  return { ...Object.fromEntries(others), PATH: needsPath ? path : "" };
}

/** Settles with true at the answer to the last request, and with false when the process ends without it. */
async function hasAnswer(child: ChildProcess): Promise<boolean> {
  if (child.stdout === null) return false;
  const lines = createInterface({ input: child.stdout });
  const failed = new Promise<false>((resolve) => child.once("error", () => resolve(false)));
  const answered = new Promise<boolean>((resolve) => {
    lines.on("line", (line) => isAnswer(line) && resolve(true));
    child.once("close", () => resolve(false));
  });
  return Promise.race([failed, answered]);
}

function isAnswer(line: string): boolean {
  const { id, result } = toRecord(parseJson(line));
  return id === LAST_REQUEST_ID && isRecord(result);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.stdin?.end();
  if (!(await waitAtMost(MAX_END_MS, ended))) child.kill("SIGKILL");
}

function createStartError({ command, args }: StartCommand, errors: readonly string[]): SkillgateError {
  const line = [command, ...args].join(" ");
  const reason = errors.slice(-MAX_REASON_LINES).join("\n") || "it ended without an answer";
  const fix = "Run the command yourself to see why, or write the entry without the check: --no-check";
  return new SkillgateError("SERVER_FAILED", `Cannot connect: this command does not start: ${line}\n${reason}`, {
    fix,
  });
}
