import { expect } from "vitest";

import { readRunRecord } from "../../src/runs/index.ts";
import { type Database, openDatabase, type StoreLocation } from "../../src/store/index.ts";
import {
  type Answer,
  createExecutorProject,
  type ExecutorProject,
  type FrontProcess,
  startFrontProcess,
  waitUntil,
} from "../executors/processes.ts";
import { skillgate } from "../surfaces/cli/command.ts";

/** A program with one or two refunds of orders that no other program refunds. */
interface Program {
  readonly orders: readonly number[];
  /** What its client was told last; `undefined` if the connection broke. */
  answer?: Answer;
}

const CLIENTS = 16;

/** A server with clients that send programs, and a person who approves what they ask. */
export class Shop {
  readonly project: ExecutorProject;
  readonly location: StoreLocation;
  readonly programs: Program[] = [];
  #server: Promise<FrontProcess>;
  #orders = 0;
  #completed = 0;
  #isOpen = false;
  #work: Promise<unknown> = Promise.resolve();

  constructor(location: StoreLocation) {
    this.location = location;
    this.project = createExecutorProject("", location, "timeouts: { lockMs: 500 }\n");
    this.#server = startFrontProcess(this.project);
  }

  /** The server that runs now, or that starts. */
  get server(): Promise<FrontProcess> {
    return this.#server;
  }

  open(): void {
    this.#isOpen = true;
    const clients = Promise.all(Array.from({ length: CLIENTS }, () => this.#send()));
    const absence = new AbortController();
    const person = this.#approve(absence.signal);
    this.#work = clients.finally(() => absence.abort()).then(() => person);
  }

  /** Resolves when the programs that were sent have answers. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await this.#work;
  }

  /** Resolves when this number of further programs has completed. */
  async progress(count: number): Promise<void> {
    const wanted = this.#completed + count;
    await waitUntil(async () => this.#completed >= wanted);
  }

  /** Ends the server with a signal, and starts it again. */
  async restart(signal: NodeJS.Signals): Promise<number | null> {
    const server = await this.#server;
    expect(server.hasEnded()).toBe(false);
    const exit = server.kill(signal);
    this.#server = exit.then(() => startFrontProcess(this.project));
    await this.#server;
    return exit;
  }

  /** Runs a command, and expects that it ends well. */
  async command(...args: readonly string[]): Promise<string> {
    const { exit, stdout, stderr } = await skillgate(args, { cwd: this.project.cwd });
    expect([exit, stderr], args.join(" ")).toEqual([0, expect.any(String)]);
    return stdout;
  }

  /** Returns the status of the store by `/health`, its reason, and the status code of `/health?ready`. */
  async getHealth(): Promise<readonly [status: unknown, reason: unknown, ready: number]> {
    const { origin } = await this.#server;
    const { status, reason } = (await (await fetch(`${origin}/health`)).json()) as Record<string, unknown>;
    const ready = await fetch(`${origin}/health?ready`);
    await ready.text();
    return [status, reason, ready.status];
  }

  /** The orders that were refunded more than once. */
  listDoubled(): readonly number[] {
    return [...this.#countEffects()].filter(([, count]) => count > 1).map(([order]) => order);
  }

  /** The orders of completed programs that were not refunded. */
  listLost(): readonly number[] {
    const effects = this.#countEffects();
    const completed = this.programs.filter(({ answer }) => answer?.kind === "completed");
    return completed.flatMap(({ orders }) => orders).filter((order) => !effects.has(order));
  }

  /** Calls `use` with the store, opened for it. */
  async withStore<Value>(use: (database: Database) => Promise<Value>): Promise<Value> {
    const database = await openDatabase(this.location);
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  }

  #countEffects(): ReadonlyMap<number, number> {
    const effects = new Map<number, number>();
    for (const line of this.project.readLog()) {
      const order = Number(line.split(" ")[1]);
      effects.set(order, (effects.get(order) ?? 0) + 1);
    }
    return effects;
  }

  async #send(): Promise<void> {
    while (this.#isOpen) {
      const program = this.#createProgram();
      this.programs.push(program);
      const server = await this.#server;
      try {
        program.answer = await server.run(formatProgram(program));
        const { kind, runId = "" } = program.answer;
        if (kind === "waiting") program.answer = await this.#resume(runId);
      } catch {
        continue; // the server has ended
      }
      if (program.answer.kind === "completed") this.#completed++;
    }
  }

  /** Resumes a run until it has an end, also on a server that was started again. */
  async #resume(runId: string): Promise<Answer> {
    for (;;) {
      const server = await this.#server;
      const answer = await server.resume(runId).catch(() => undefined);
      if (answer !== undefined) return answer;
    }
  }

  #createProgram(): Program {
    const first = ++this.#orders;
    return { orders: first % 3 === 0 ? [first] : [first, ++this.#orders] };
  }

  /** Answers by the command line, which fails while the store is locked. */
  async #approve(absence: AbortSignal): Promise<void> {
    while (!absence.aborted) {
      const listed = await skillgate(["approvals", "list", "--json"], { cwd: this.project.cwd });
      if (listed.exit !== 0) continue;
      const { approvals } = JSON.parse(listed.stdout) as { readonly approvals: readonly { readonly id: string }[] };
      for (const { id } of approvals) await skillgate(["approvals", "approve", id], { cwd: this.project.cwd });
      if (approvals.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Every fifth order needs an approval. */
function formatProgram({ orders }: Program): string {
  const calls = orders.map((order) => `device.OrderSkill.${order % 5 === 0 ? "refundLarge" : "refund"}(${order})`);
  return `const refunds = []; // ${orders.join(" ")}\n${calls.map((call) => `refunds.push(await ${call});\n`).join("")}refunds`;
}

/** Returns the runs that are neither ended nor wait for a person, and those that have ended without a sentence. */
export async function listUnfinishedRuns({ runs }: Database): Promise<readonly string[]> {
  const unfinished: string[] = [];
  for (const { id, state, ended } of await runs.list({})) {
    if (ended === null && state !== "waiting") unfinished.push(`${id} is ${state}`);
    if (ended !== null && (await readSentence(id, runs)) === "") unfinished.push(`${id} has ended without a sentence`);
  }
  return unfinished;
}

async function readSentence(id: string, runs: Database["runs"]): Promise<string> {
  const { outcome } = await readRunRecord(id, await runs.entries(id));
  return outcome?.text ?? "";
}
