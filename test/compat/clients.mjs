// One row for each client: it connects to Skillgate, runs a program, receives progress, and cancels a call.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { loadAside } from "../support/install-aside.mjs";
import { CLIENTS } from "./client-list.mjs";
import { installOne } from "./install-one.mjs";
import { toCell } from "./table.mjs";

export const CLIENT_COLUMNS = ["client", "version", "connects", "program", "progress", "cancel"];

const BIN = join(import.meta.dirname, "../../dist/src/bin.js");
const SERVE = [BIN, "serve", "--skills", join(import.meta.dirname, "skills")];

/** How long a client may take for one step, in milliseconds. */
const STEP_MS = 60_000;

/** How long a cancelled call may take to end, in milliseconds. */
const CANCEL_MS = 10_000;

/** Measures every client, one after the other, and says each row. */
export async function measureClients(folder, say) {
  const work = mkdtempSync(join(tmpdir(), "skillgate-compat-"));
  const env = { PATH: process.env.PATH, HOME: work };
  const http = spawn(process.execPath, [...SERVE, "--http", "--port", "0", "--no-auth"], {
    cwd: work,
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const rows = [];
  try {
    const [line] = await once(createInterface({ input: http.stderr }), "line");
    const url = /http:\S+\/mcp/.exec(line)[0];
    const server = { command: process.execPath, args: [...SERVE, "--stdio", "--folder", work], env, url };
    for (const entry of CLIENTS) {
      const row = await measureClient(folder, entry, { server, work });
      say(row);
      rows.push(row);
    }
  } finally {
    http.kill();
    await once(http, "exit");
    rmSync(work, { recursive: true, force: true });
  }
  return rows;
}

async function measureClient(folder, { package: wanted, title, connect }, { server, work }) {
  const { name, version, home, problem } = installOne(folder, wanted);
  const head = [title === undefined ? name : `${name}, ${title}`, version];
  if (problem !== undefined) return [...head, problem, "–", "–", "–"];
  const place = { home, load: (module) => loadAside(home, module), loadProjects: (module) => import(module) };
  let client;
  try {
    client = await limitTime(connect(place, server));
    const tools = await limitTime(client.list());
    if (!tools.includes("run_code")) return [...head, `no run_code: ${tools.join(", ")}`, "–", "–", "–"];
    return [
      ...head,
      "yes",
      await attempt(() => runProgram(client)),
      client.can.includes("progress") ? await attempt(() => receiveProgress(client)) : "not offered",
      client.can.includes("cancel") ? await attempt(() => cancel(client, work)) : "not offered",
    ];
  } catch (thrown) {
    return [...head, `no: ${toCell(String(thrown?.message ?? thrown))}`, "–", "–", "–"];
  } finally {
    await client?.close().catch(() => {}); // its connection has ended already
  }
}

async function runProgram(client) {
  const code = "await device.ProbeSkill.answer()";
  return JSON.stringify(await limitTime(client.call("run_code", { code }, {}))).includes("42");
}

async function receiveProgress(client) {
  let count = 0;
  const code = "await device.ProbeSkill.work()";
  await limitTime(client.call("run_code", { code }, { onprogress: () => count++ }));
  return count > 0;
}

/** Cancels a call once its method has begun; the method says when it was cancelled. */
async function cancel(client, work) {
  const folder = mkdtempSync(join(work, "cancel-"));
  const [started, cancelled] = ["started", "cancelled"].map((name) => join(folder, name));
  const code = `await device.ProbeSkill.wait(${JSON.stringify(started)}, ${JSON.stringify(cancelled)})`;
  const controller = new AbortController();
  const call = Promise.resolve(client.call("run_code", { code }, { signal: controller.signal })).catch(() => {});
  if (!(await waitFor(started, STEP_MS))) throw new Error("the call does not begin");
  controller.abort(new Error("no longer needed"));
  const isCancelled = await waitFor(cancelled, CANCEL_MS);
  if (isCancelled) await limitTime(call);
  return isCancelled;
}

/** `yes`, `no`, or `no` with the reason. */
async function attempt(step) {
  try {
    return (await step()) ? "yes" : "no";
  } catch (thrown) {
    return `no: ${toCell(String(thrown?.message ?? thrown))}`;
  }
}

async function waitFor(file, ms) {
  for (const until = performance.now() + ms; performance.now() < until;) {
    if (existsSync(file)) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function limitTime(work) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${STEP_MS / 1_000} s`)), STEP_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
