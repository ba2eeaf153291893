// A burst of deliveries to a served runtime, beside a bare server: `node test/bench/automations/webhooks.mjs`, after a build.
// With `--profile`, the server writes a profile of its threads into the folder of the call.

import { execFileSync, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { quantile, table } from "../measure.mjs";
import { BIN, createProject, environment, serve } from "../served/server.mjs";

const COUNT = 1_000;
const SECRET = "the secret of the bench";
const BARE = fileURLToPath(new URL("bare-hooks.mjs", import.meta.url));

const FILES = {
  "skills/shop-skill.js": `
/** Notes orders. */
export class ShopSkill {
  /** Note an order. @param {number} n @returns {number} */
  note(n) { return n; }
}`,
  "automations/orders.yaml": `description: Notes orders
key: clerk
webhook: { verify: github, secrets: ["\${BENCH_HOOK_SECRET}"] }
limits: { parallel: 5, runsPerHour: 10000 }
source: |
  const { body } = device.input();
  await device.ShopSkill.note(body.n);
`,
};

/** The sockets of the senders; `SOCKETS=20` measures one of them. */
const SOCKETS = (process.env.SOCKETS ?? "20,200").split(",").map(Number);

/** The most milliseconds of the slowest of a hundred answers, when the senders have few sockets. */
const MAX_P99_MS = 200;

/** Measures bursts over many sockets and over few; returns false if a mark is missed. */
export async function benchWebhooks({ isProfiled = false } = {}) {
  const rows = [];
  let isGood = true;
  for (const sockets of SOCKETS) {
    const bare = await measureBare(sockets);
    const served = await measureServed(sockets, isProfiled);
    isGood &&= sockets > 20 || quantile(served.times, 0.99) <= MAX_P99_MS;
    for (const [name, measured] of Object.entries({ bare, served }))
      rows.push([
        `${sockets} sockets, ${name}`,
        measured.ms / COUNT,
        quantile(measured.times, 0.5),
        quantile(measured.times, 0.99),
        measured.ms / bare.ms,
        measured.endedMs === undefined ? "" : measured.endedMs / 1_000,
      ]);
  }
  const columns = ["", "ms each", "median ms", "p99 ms", "÷ bare", "all runs ended, s"];
  table(`${COUNT} deliveries at once`, columns, rows);
  return isGood;
}

async function measureBare(sockets) {
  const child = spawn(process.execPath, [BARE, SECRET], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  try {
    await sendBurst(`${url}/hooks/orders`, 50, sockets, "warm");
    return await sendBurst(`${url}/hooks/orders`, COUNT, sockets, "bare");
  } finally {
    child.kill();
    await once(child, "exit");
  }
}

async function measureServed(sockets, isProfiled) {
  const { folder, remove } = createProject(FILES);
  const run = (...args) =>
    execFileSync(process.execPath, [BIN, ...args], { cwd: folder, env: environment(folder), encoding: "utf8" });
  run("keys", "create", "clerk", "--call", "ShopSkill.*");
  run("automation", "accept", "orders", "--yes");
  const nodeOptions = isProfiled ? ["--cpu-prof", `--cpu-prof-dir=${process.cwd()}/profile-${sockets}`] : [];
  const server = await serve(folder, { nodeOptions, env: { BENCH_HOOK_SECRET: SECRET } });
  try {
    await sendBurst(`${server.url}/hooks/orders`, 5, sockets, "warm");
    await waitForEnds(run, 5);
    const startedAt = performance.now();
    const burst = await sendBurst(`${server.url}/hooks/orders`, COUNT, sockets, "served");
    if (!isProfiled) await waitForEnds(run, COUNT + 5);
    return { ...burst, endedMs: performance.now() - startedAt };
  } finally {
    await server.close();
    remove();
  }
}

/** Waits until the command says that no delivery is open. */
async function waitForEnds(run, count) {
  for (;;) {
    const rows = JSON.parse(run("automation", "history", "orders", "--limit", String(count + 10), "--json"));
    const list = Array.isArray(rows) ? rows : rows.occurrences;
    if (list.length >= count && list.every(({ ended }) => ended !== null && ended !== undefined)) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** Sends all deliveries at once over a number of sockets. The time of an answer begins when its request has a socket. */
async function sendBurst(url, count, sockets, name) {
  const agent = new Agent({ maxSockets: sockets, keepAlive: true });
  const times = [];
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const body = JSON.stringify({ n, name, text: "x".repeat(2_000) });
      const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
      const headers = {
        "content-type": "application/json",
        "x-github-event": "push",
        "x-hub-signature-256": signature,
      };
      const outgoing = request(url, { method: "POST", headers, agent });
      let at;
      outgoing.once("socket", () => (at = performance.now()));
      outgoing.end(body);
      const [response] = await once(outgoing, "response");
      response.resume();
      await once(response, "end");
      times.push(performance.now() - at);
      if (response.statusCode !== 202) throw new Error(`${url} answers ${response.statusCode}`);
    }),
  );
  agent.destroy();
  return { ms: performance.now() - startedAt, times };
}

if (process.argv[1] === import.meta.filename)
  process.exitCode = (await benchWebhooks({ isProfiled: process.argv.includes("--profile") })) ? 0 : 1;
