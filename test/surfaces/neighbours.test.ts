// @module-tag rest

import http from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";

import { expect, test } from "vitest";

import { createKeys } from "../../src/keys/index.ts";
import { openDatabase } from "../../src/store/index.ts";
import { project, start } from "./cli/command.ts";

const CLIENTS = 30;
const REPLAYS = 60;

/** How much later the answers of others may be, by their median. Another attempt is made where the machine had other work. */
const MAX_RATIO = 2;
const ATTEMPTS = 3;

/**
 * The others are measured in short turns, alone and beside the two, so that other programs slow down both alike. Beside the others
 * alone, a thread computes as the hostile programs do: what is compared is the server, not the number of cores.
 */
const TURNS = 6;
const TURN_MS = 1_000;

const SKILL = `
/** Repeats what it gets. */
export class EchoSkill {
  /** Repeat a value. @param {any} value @returns {any} @readonly */
  read(value) { return value; }
  /** List rows. @param {number} count @returns {{id: number}[]} @readonly */
  rows(count) { return Array.from({ length: count }, (_, id) => ({ id })); }
  /** Write a value. @param {any} value @returns {any} */
  write(value) { return value; }
}`;

/** Programs with their results, no two of the same text. */
const HONEST: readonly ((n: number) => readonly [code: string, value: unknown])[] = [
  (n) => [`return await device.EchoSkill.read(${n})`, n],
  (n) => [`return await Promise.all([1, 2, 3].map((x) => device.EchoSkill.read(x + ${n})))`, [1 + n, 2 + n, 3 + n]],
  (n) => [`const rows = await device.EchoSkill.rows(200); return rows.length + ${n}`, 200 + n],
  (n) => [`return "x".repeat(500) + ${n}`, "x".repeat(500) + String(n)],
];

/** Programs that keep the thread of the server busy for as long as one program can. */
const HOSTILE: readonly string[] = [
  "return Object.fromEntries(Array.from({ length: 60_000 }, (_, id) => ['name' + id, id]))",
  "return Array.from({ length: 30_000 }, (_, id) => new Date(id))",
  "return new Uint8Array(3e6)",
  "return 'sk-'.repeat(300_000)",
  "await device.EchoSkill.read(Array.from({ length: 60_000 }, (_, id) => ({ id })))",
  "await device.EchoSkill.read(Object.fromEntries(Array.from({ length: 9_000 }, (_, id) => ['name' + id, id])))",
  "await Promise.all(Array.from({ length: 900 }, (_, id) => device.EchoSkill.read(id)))",
  "device.EchoSkill.read(1, 2, 3);\n".repeat(1_000),
  `let a = 1;${"a = a + 1;".repeat(2_500)}`,
  "f(1 as any as string);".repeat(1_700),
  "process.exit(1);".repeat(2_500),
];

const REPLAYED = "let sum = await device.EchoSkill.write(1); for (let i = 0; i < 3e5; i++) sum += i; return sum";

test("answers others rightly and at most twice as late beside a client with hostile programs and one with 60 replays [P4, S7]", async () => {
  const { url, keys } = await serveKeys(CLIENTS + 2);
  const [hostile = "", replayer = "", ...others] = keys;
  const run = (key: string, code: string): Promise<Answer> => post(`${url}/tools/run_code`, { code }, key);
  const recorded = await run(replayer, REPLAYED);
  const replay = async (): Promise<number> =>
    (await post(`${url}/console/api/runs/${recorded.data?.runId}/replay`, {}, replayer)).status;

  let count = 0;
  const sendHonest = async (times: number[]): Promise<void> => {
    const end = performance.now() + TURN_MS;
    const send = async (key: string): Promise<void> => {
      while (performance.now() < end) {
        const n = ++count;
        const [code, value] = HONEST[n % HONEST.length]?.(n) ?? [];
        const startedAt = performance.now();
        const { data } = await run(key, code ?? "");
        times.push(performance.now() - startedAt);
        expect(data?.value).toEqual(value);
      }
    };
    await Promise.all(others.map(send));
  };
  const statuses = new Set<number>();
  let attacks = 0;
  const sendBesideHostile = async (times: number[]): Promise<void> => {
    const honest = { areDone: false };
    const attack = async (): Promise<void> => {
      while (!honest.areDone) await run(hostile, HOSTILE[attacks++ % HOSTILE.length] ?? "");
    };
    const replayOften = async (): Promise<void> => {
      while (!honest.areDone)
        for (const status of await Promise.all(Array.from({ length: REPLAYS }, replay))) statuses.add(status);
    };
    const beside = [attack(), replayOften()];
    await sendHonest(times);
    honest.areDone = true;
    await Promise.all(beside);
  };

  // Everything is loaded, and compiled at least once.
  for (const code of HOSTILE) await run(hostile, code);
  await sendBesideHostile([]);
  let ratio = Infinity;
  for (let attempt = 0; attempt < ATTEMPTS && ratio > MAX_RATIO; attempt++) {
    const times = { alone: [] as number[], beside: [] as number[] };
    for (let turn = 0; turn < TURNS; turn++) {
      const computing = new Worker("for (;;);", { eval: true });
      await sendHonest(times.alone);
      await computing.terminate();
      await sendBesideHostile(times.beside);
    }
    ratio = median(times.beside) / median(times.alone);
  }
  expect(attacks).toBeGreaterThan(HOSTILE.length);
  expect(statuses).toEqual(new Set([200, 429]));
  expect(ratio).toBeLessThanOrEqual(MAX_RATIO);
}, 180_000);

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}

/** Serves a project with a skill, to as many keys as asked for. */
async function serveKeys(count: number): Promise<{ readonly url: string; readonly keys: readonly string[] }> {
  const cwd = project({ "skills/echo.mjs": SKILL, "settings.yaml": "typecheck: false\nstore: { dir: state }\n" });
  const database = await openDatabase({ folder: join(cwd, "state") });
  const keys = createKeys(database);
  const texts: string[] = [];
  for (let at = 0; at < count; at++)
    texts.push((await keys.create({ name: `key${at}`, permissions: ["call:*", "admin:ManageRuns"] })).text);
  await database.close();
  const { stderr } = start(["serve", "--http", "--port", "0"], { cwd });
  if (stderr === null) throw new TypeError("stderr is a pipe");
  const url = await new Promise<string>((resolve) =>
    createInterface(stderr).on("line", (line) => {
      const [, found] = /MCP at (\S+)\/mcp/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    }),
  );
  return { url, keys: texts };
}

interface Answer {
  readonly status: number;
  readonly data?: { readonly runId?: string; readonly value?: unknown };
}

const agent = new http.Agent({ keepAlive: true, timeout: 2_000 });

/** Posts JSON; a long answer is not parsed. */
function post(url: string, body: object, key: string): Promise<Answer> {
  const text = JSON.stringify(body);
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
    authorization: `Bearer ${key}`,
    "x-skillgate-console": "1",
  };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.once("end", () => {
        const answer = Buffer.concat(parts).toString();
        const { data } = answer.length < 10_000 ? (JSON.parse(answer) as Pick<Answer, "data">) : {};
        resolve({ status: response.statusCode ?? 0, ...(data && { data }) });
      });
    });
    request.once("error", reject);
    request.end(text);
  });
}
