// Throughput and memory of a served runtime: 32 clients at /rpc with six kinds of programs, then a rest.

import http from "node:http";

import { median, quantile, table } from "../measure.mjs";
import { createProject, serve } from "./server.mjs";

export const CLIENTS = 32;
const SECONDS = Number(process.env.SECONDS ?? 40);

/** Longer than the rest after which a server collects its garbage. */
const REST_MS = 15_000;

const SKILL = `
/** Repeats numbers. */
export class EchoSkill {
  /** Repeat a number. @param {number} value @returns {number} @readonly */
  read(value) { return value; }
  /** List rows. @param {number} count @returns {{id: number, name: string}[]} @readonly */
  rows(count) { return Array.from({ length: count }, (_, id) => ({ id, name: "row " + id })); }
  /** Fail. @returns {number} @readonly */
  fail() { throw new Error("It fails"); }
}`;

/** No two programs have the same text. */
export const PROGRAMS = {
  "one call": (n) => `const r${n} = await device.EchoSkill.read(${n}); r${n}`,
  "three calls": (n) => `await Promise.all([1, 2, 3].map((x) => device.EchoSkill.read(x + ${n})))`,
  "an error": (n) => `await device.EchoSkill.fail(); ${n}`,
  "a refusal": (n) => `process.exit(${n})`,
  "2,000 rows": (n) => `const r${n} = await device.EchoSkill.rows(2000); r${n}`,
  text: (n) => `console.log("text ${n}"); "x".repeat(1000)`,
};

export async function benchLoad() {
  const rows = [];
  for (const [name, typecheck] of [
    ["without the type check", false],
    ["with the type check", true],
  ])
    rows.push([name, ...(await measure(typecheck, Object.values(PROGRAMS)))]);
  for (const [name, program] of Object.entries(PROGRAMS))
    rows.push([`only ${name}`, ...(await measure(false, [program]))]);
  const columns = ["", "runs/s", "median", "p99 ÷ median", "CPU ms a run", "MB: start", "at the end", "after a rest"];
  table(`${CLIENTS} clients at /rpc`, columns, rows);
}

/** One process beside two on the same store, which share the clients; they take turns. */
export async function benchTwoProcesses() {
  const project = createProject(createFiles(false));
  const servers = await Promise.all([serve(project.folder), serve(project.folder)]);
  const urls = servers.map(({ url }) => url);
  const rates = { one: [], two: [] };
  try {
    for (let round = 0; round < 4; round++) {
      for (const [name, used] of Object.entries({ one: urls.slice(0, 1), two: urls })) {
        const { times, seconds } = await load(used, Object.values(PROGRAMS), { seconds: SECONDS / 8 });
        if (round > 0) rates[name].push(times.length / seconds);
      }
    }
  } finally {
    await Promise.all(servers.map((server) => server.close()));
    project.remove();
  }
  const [one, two] = [median(rates.one), median(rates.two)];
  table(
    "Processes of serve on one store",
    ["", "runs/s", "ratio"],
    [
      ["one", one, 1],
      ["two", two, two / one],
    ],
  );
}

async function measure(typecheck, programs) {
  const isMixed = programs.length > 1;
  const project = createProject(createFiles(typecheck));
  const server = await serve(project.folder);
  try {
    const start = server.readMegabytes();
    const cpu = server.readCpuMs();
    const { times, seconds } = await load([server.url], programs, { seconds: isMixed ? SECONDS : SECONDS / 4 });
    const cpuMs = (server.readCpuMs() - cpu) / times.length;
    const end = server.readMegabytes();
    if (isMixed) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    const p50 = median(times);
    return [
      times.length / seconds,
      p50,
      quantile(times, 0.99) / p50,
      cpuMs,
      start,
      end,
      isMixed ? server.readMegabytes() : "",
    ];
  } finally {
    await server.close();
    project.remove();
  }
}

export function createFiles(typecheck) {
  return { "settings.yaml": `typecheck: ${typecheck}\nstore: { dir: state }\n`, "skills/echo.mjs": SKILL };
}

/** Sends programs from all clients in turns. Resolves to the times of the answers. */
export async function load(urls, programs, { seconds, path = "/rpc" }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS });
  const times = [];
  let count = 0;
  const began = performance.now();
  const client = async (index) => {
    for (let turn = index; performance.now() - began < seconds * 1_000; turn++) {
      const startedAt = performance.now();
      await callTool(agent, `${urls[turn % urls.length]}${path}`, programs[turn % programs.length](++count));
      times.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  agent.destroy();
  return { times, seconds: (performance.now() - began) / 1_000 };
}

/** Resolves to the bytes of the answer. */
export function callTool(agent, url, code) {
  const params = { name: "run_code", arguments: { code } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent, headers }, (response) => {
      let bytes = 0;
      response.on("data", (part) => (bytes += part.length));
      response.once("end", () => resolve(bytes));
    });
    request.once("error", reject);
    request.end(body);
  });
}
