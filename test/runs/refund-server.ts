import { type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";

import { openDatabase } from "../../src/store/index.ts";
import { BIN, environment, project, start } from "../surfaces/cli/command.ts";

/** A skill that logs each refund with the id of its call. */
const ORDER_SKILL = `
import { appendFileSync } from "node:fs";

/** Orders of a shop. */
export class OrderSkill {
  /**
   * Refund an order.
   * @param {number} order
   * @returns {string}
   * @destructive
   */
  refund(order, context) { appendFileSync("effects.log", order + " " + context.callId + "\\n"); return "refunded " + order; }

  /**
   * Refund a large order.
   * @param {number} order
   * @returns {string}
   * @destructive
   * @approval user
   */
  refundLarge(order, context) { return this.refund(order, context); }
}
`;

/** Refunds three orders, of which the second needs an approval. */
export const THREE_REFUNDS = `const first = await device.OrderSkill.refund(1);
const second = await device.OrderSkill.refundLarge(2);
[first, second, await device.OrderSkill.refund(3)]`;

export const REFUNDED = ["refunded 1", "refunded 2", "refunded 3"];

export interface RefundProject {
  readonly cwd: string;
  /** Returns the orders that were refunded, in order. */
  readEffects(): readonly string[];
  /** Resolves to the id of an open question. */
  findQuestion(): Promise<string>;
}

/** Creates a project with the skill. Its runs answer after `holdSeconds` that they wait. */
export function createRefundProject(holdSeconds = 0.2): RefundProject {
  const cwd = project({
    "skills/orders.js": ORDER_SKILL,
    "settings.yaml": `store: { dir: state }\napprovals: { holdSeconds: ${holdSeconds} }\n`,
  });
  const log = join(cwd, "effects.log");
  return {
    cwd,
    readEffects: () =>
      (existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(0, -1) : []).map(
        (line) => line.split(" ")[0] ?? "",
      ),
    async findQuestion() {
      const database = await openDatabase({ folder: join(cwd, "state") });
      try {
        for (;;) {
          const { stop, changed } = watch(database);
          const [question] = await database.approvals.list("pending");
          if (question === undefined) await changed;
          stop();
          if (question !== undefined) return question.id;
        }
      } finally {
        await database.close();
      }
    },
  };
}

function watch(database: Awaited<ReturnType<typeof openDatabase>>): { stop: () => void; changed: Promise<void> } {
  let stop = (): void => {};
  const changed = new Promise<void>((resolve) => {
    stop = database.watch(resolve);
  });
  return { stop: () => stop(), changed };
}

export interface ServedProject {
  readonly url: string;
  readonly child: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Starts `skillgate serve --http` on a free port. */
export async function serveProject({ cwd }: RefundProject): Promise<ServedProject> {
  const child = start(["serve", "--http", "--port", "0", "--no-auth"], { cwd });
  const errors = child.stderr;
  if (errors === null) throw new TypeError("The process has no stderr");
  let url = "";
  for await (const line of createInterface({ input: errors })) {
    url = /(?:Serving|MCP) at (http:\/\/[^/]+)/.exec(line)?.[1] ?? "";
    if (url !== "") break;
  }
  return {
    url,
    child,
    async kill(signal) {
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
  };
}

/** Connects a client to `skillgate serve --stdio`, of which it knows the process. */
export async function connectStdio({ cwd }: RefundProject): Promise<{ readonly client: Client; readonly pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BIN, "serve", "--stdio"],
    cwd,
    env: environment(cwd) as Record<string, string>,
    stderr: "ignore",
  });
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid ?? 0 };
}
