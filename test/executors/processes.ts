import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { openDatabase, type StoreLocation } from "../../src/store/index.ts";
import { project, skillgate, start } from "../surfaces/cli/command.ts";

/** A skill that logs what it does. Some of its methods end only when the file `blocked` does not exist. */
const ORDER_SKILL = `
import { appendFileSync, existsSync } from "node:fs";

const log = (line) => appendFileSync("effects.log", line + "\\n");
const block = async () => { while (existsSync("blocked")) await new Promise((resolve) => setTimeout(resolve, 10)); };

/** Orders of a shop. */
export class OrderSkill {
  /**
   * Read an order, and block.
   * @param {number} order
   * @returns {number}
   * @readonly
   */
  async read(order) { log("read " + order); await block(); return order; }

  /**
   * Refund an order.
   * @param {number} order
   * @returns {string}
   * @destructive
   */
  refund(order) { log("refund " + order); return "refunded " + order; }

  /**
   * Refund an order, and block.
   * @param {number} order
   * @returns {string}
   * @destructive
   */
  async refundSlowly(order) { log("refund " + order); await block(); return "refunded " + order; }

  /**
   * Refund a large order.
   * @param {number} order
   * @returns {string}
   * @destructive
   * @approval user
   */
  refundLarge(order) { return this.refund(order); }
}
`;

/** The project of the processes of one test. */
export interface ExecutorProject {
  readonly cwd: string;
  readonly url: string;
  /** Returns the lines that the skill has logged. */
  readLog(): readonly string[];
  /** Resolves when the skill has logged the line. */
  waitForLog(line: string): Promise<void>;
  setBlocked(isBlocked: boolean): void;
  /** Resolves to the id of the question that waits for a person. */
  findQuestion(): Promise<string>;
  answer(question: string): Promise<void>;
}

/** Creates a project with the skill, whose store is at `location`. `settings` are further lines of its settings. */
export function createExecutorProject(
  url: string,
  location: StoreLocation,
  settings = "approvals: { holdSeconds: 0.2 }\n",
): ExecutorProject {
  const store = { dir: location.folder, url: location.url };
  const cwd = project({
    "skills/orders.mjs": ORDER_SKILL,
    "settings.yaml": `store: ${JSON.stringify(store)}\n${settings}`,
  });
  const file = join(cwd, "effects.log");
  const readLog = (): readonly string[] =>
    existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  return {
    cwd,
    url,
    readLog,
    waitForLog: (line) => waitUntil(async () => readLog().includes(line)),
    setBlocked(isBlocked) {
      if (isBlocked) writeFileSync(join(cwd, "blocked"), "");
      else rmSync(join(cwd, "blocked"));
    },
    async findQuestion() {
      let id = "";
      await withDatabase(location, ({ approvals }) =>
        waitUntil(async () => (id = (await approvals.list("pending"))[0]?.id ?? "") !== ""),
      );
      return id;
    },
    async answer(id) {
      const { exit, stderr } = await skillgate(["approvals", "approve", id], { cwd });
      if (exit !== 0) throw new Error(stderr);
    },
  };
}

type Database = Awaited<ReturnType<typeof openDatabase>>;

async function withDatabase<Value>(
  location: StoreLocation,
  use: (database: Database) => Promise<Value>,
): Promise<Value> {
  const database = await openDatabase(location);
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}

/** Looks every 20 ms. */
export async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export interface StartedProcess {
  /** The lines of its log. */
  readonly lines: readonly string[];
  /** Resolves when its log has a line with this text. */
  waitForLine(text: string): Promise<void>;
  hasEnded(): boolean;
  /** Ends it with a signal, and resolves to its exit code. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `skillgate executor`, which then takes runs. */
export async function startExecutorProcess(
  { cwd, url }: Pick<ExecutorProject, "cwd" | "url">,
  ...flags: readonly string[]
): Promise<StartedProcess> {
  const { process } = await startUntil(["executor", url, ...flags], { cwd, line: /connected to/ });
  return process;
}

/** Starts `skillgate node join`, which then answers calls. */
export async function startDeviceProcess(
  { cwd, url }: Pick<ExecutorProject, "cwd" | "url">,
  name: string,
): Promise<StartedProcess> {
  const { process } = await startUntil(["node", "join", url, "--name", name], { cwd, line: /connected to/ });
  return process;
}

/** The answer of a program: its outcome if it has completed or waits for a person, else an error. */
export interface Answer {
  readonly kind?: string;
  readonly runId?: string;
  readonly value?: unknown;
  readonly error?: string;
}

export interface FrontProcess extends StartedProcess {
  /** Where it listens. */
  readonly origin: string;
  run(code: string): Promise<Answer>;
  /** Resumes a run until it does not wait any more. */
  resume(runId: string): Promise<Answer>;
}

/** Starts `skillgate serve` on a free port. It hands its runs to executors, or executes them if the project has no URL of these. */
export async function startFrontProcess({ cwd, url }: Pick<ExecutorProject, "cwd" | "url">): Promise<FrontProcess> {
  const args = ["serve", "--http", "--port", "0", "--no-auth", ...(url === "" ? [] : ["--executors", url])];
  const { process, match } = await startUntil(args, { cwd, line: /MCP at (http:\/\/[^/]+)/ });
  const post = async (tool: string, body: object): Promise<Answer> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${match}/tools/${tool}`, { method: "POST", headers, body: JSON.stringify(body) });
    const { data, error } = (await response.json()) as { readonly data?: Answer; readonly error?: string };
    return data ?? (error === undefined ? {} : { error });
  };
  return {
    ...process,
    origin: match,
    run: (code) => post("run_code", { code }),
    async resume(runId) {
      for (;;) {
        const answer = await post("resume_run", { run_id: runId });
        if (answer.kind !== "waiting") return answer;
      }
    },
  };
}

async function startUntil(
  args: readonly string[],
  { cwd, line: wanted }: { readonly cwd: string; readonly line: RegExp },
): Promise<{ readonly process: StartedProcess; readonly match: string }> {
  const child = start(args, { cwd });
  child.stdout?.resume();
  if (child.stderr === null) throw new TypeError("The process has no stderr");
  const lines: string[] = [];
  const match = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr ?? process.stdin }).on("line", (line) => {
      lines.push(line);
      const found = wanted.exec(line);
      if (found !== null) resolve(found[1] ?? "");
    });
    child.once("close", () => reject(new Error(`skillgate ${args.join(" ")} has ended: ${lines.join("\n")}`)));
  });
  const waitForLine = (text: string): Promise<void> => waitUntil(async () => lines.some((line) => line.includes(text)));
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return { process: { lines, waitForLine, hasEnded, kill: (signal) => end(child, signal) }, match };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const closed = once(child, "close");
  child.kill(signal);
  const [exit] = (await closed) as [number | null];
  return exit;
}
