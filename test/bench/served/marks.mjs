// What a served run costs the main thread, beside a bare `node:http` server that answers as many bytes. All take turns.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { median, table } from "../measure.mjs";
import { callTool, CLIENTS, createFiles, load, PROGRAMS } from "./load.mjs";
import { printProfile, profileOptions } from "./profile.mjs";
import { BIN, createProject, readMainThreadMs, serve } from "./server.mjs";

const BARE = fileURLToPath(new URL("bare-http.mjs", import.meta.url));
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const SECONDS = Number(process.env.SECONDS ?? 4);

/** `BASELINE` is the `dist/src/bin.js` of another build, which is measured beside this one. */
const BUILDS = { ...(process.env.BASELINE && { before: process.env.BASELINE }), served: BIN };

/** Prints the time of the main thread and the runs a second, with `byProgram` also for each kind of program. */
export async function benchMarks({ byProgram = false } = {}) {
  const project = createProject(createFiles(true));
  const bare = await startBare();
  const servers = {};
  for (const [name, bin] of Object.entries(BUILDS)) servers[name] = await serve(project.folder, { bin });
  try {
    const sizes = await measureSizes(servers.served.url);
    const all = Object.keys(PROGRAMS);
    const kinds = [["six kinds of programs", all], ...(byProgram ? all.map((name) => [name, [name]]) : [])];
    for (const [title, names] of kinds) await printMarks(title, names, { bare, servers, sizes });
  } finally {
    bare.child.kill();
    for (const server of Object.values(servers)) await server.close();
    project.remove();
  }
}

async function printMarks(title, names, { bare, servers, sizes }) {
  const programs = names.map((name) => PROGRAMS[name]);
  const bareUrls = names.map((name) => `${bare.url}/?characters=${sizes.get(name)}`);
  const jobs = {
    "bare node:http": {
      readMs: () => readMainThreadMs(bare.child.pid),
      run: () => load(bareUrls, programs, { seconds: SECONDS / 4, path: "" }),
    },
  };
  for (const [name, server] of Object.entries(servers))
    jobs[name] = {
      readMs: server.readMainThreadMs,
      run: () => load([server.url], programs, { seconds: SECONDS }),
      server,
    };
  const figures = new Map(Object.keys(jobs).map((name) => [name, { ms: [], rates: [] }]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, { readMs, run }] of Object.entries(jobs)) {
      const before = readMs();
      const { times, seconds } = await run();
      if (round === 0) continue; // warms up
      figures.get(name).ms.push((readMs() - before) / times.length);
      figures.get(name).rates.push(times.length / seconds);
    }
  }
  const bareMs = median(figures.get("bare node:http").ms);
  const rows = [...figures].map(([name, { ms, rates }]) => {
    const megabytes = jobs[name].server?.readMegabytes() ?? "";
    return [name, median(ms), median(ms) / bareMs, median(rates), megabytes];
  });
  table(`${title}, ${CLIENTS} clients`, ["", "main thread, ms a run", "÷ bare", "runs/s", "MB"], rows);
}

/** Prints which parts of the code take the time of the main thread. */
export async function benchProfile(options = {}) {
  const project = createProject(createFiles(true));
  const folder = mkdtempSync(join(tmpdir(), "skillgate-profile-"));
  const file = join(folder, "main.cpuprofile");
  const programs = options.programs ?? Object.values(PROGRAMS);
  try {
    const server = await serve(project.folder, { nodeOptions: profileOptions(file) });
    await load([server.url], programs, { seconds: SECONDS });
    server.kill("SIGUSR2");
    const { times } = await load([server.url], programs, { seconds: SECONDS * 2 });
    server.kill("SIGUSR2");
    while (!existsSync(file)) await pause(50);
    await server.close();
    printProfile(file, times.length, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    project.remove();
  }
}

async function startBare() {
  const child = spawn(process.execPath, [BARE], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url };
}

/** The characters of the answer to each kind of program. */
async function measureSizes(url) {
  const agent = new http.Agent({ keepAlive: true });
  const sizes = new Map();
  for (const [name, program] of Object.entries(PROGRAMS))
    sizes.set(name, await callTool(agent, `${url}/rpc`, program(0)));
  agent.destroy();
  return sizes;
}
