// The processes of the bench: NATS and PostgreSQL servers, `skillgate serve` and `skillgate executor`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "../../..");
const BIN = join(ROOT, "dist/src/bin.js");
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

const SKILL = `
import { appendFileSync, existsSync } from "node:fs";

/** Repeats numbers. */
export class EchoSkill {
  /**
   * Repeat a number.
   * @param {number} value
   * @returns {number}
   * @readonly
   */
  read(value) { return value; }

  /**
   * Repeat a number, and count as an effect.
   * @param {number} value
   * @returns {number}
   */
  write(value) { return value; }

  /**
   * Log the time, and wait until the file "blocked" does not exist.
   * @returns {number}
   * @readonly
   */
  async block() {
    appendFileSync("begun.log", Date.now() + "\\n");
    while (existsSync("blocked")) await new Promise((resolve) => setTimeout(resolve, 20));
    return 0;
  }
}
`;

/** Imports a file of the tests that starts a server. */
export async function importSupport(name) {
  const entry = join(ROOT, "test/support/servers", `${name}.ts`);
  const options = { bundle: true, write: false, platform: "node", format: "esm" };
  const { outputFiles } = await build({ ...options, entryPoints: [entry] });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** Starts the servers and a project for each number of executors; 0 is one process that executes its own runs. */
export async function openProjects(counts) {
  const [{ startNats }, postgresql] = await Promise.all([importSupport("nats"), importSupport("postgres")]);
  const programs = postgresql.findPostgres();
  const [nats, postgres] = [await startNats(), programs && (await postgresql.startPostgres(programs))];
  const folder = mkdtempSync(join(tmpdir(), "skillgate-scaling-"));
  const projects = [];
  for (const count of counts) projects.push(await openProject(join(folder, String(count)), { count, nats, postgres }));
  return {
    projects,
    nats,
    location: (name) => ({ folder: join(folder, name), ...(postgres && { url: postgres.url() }) }),
    async close() {
      for (const { close } of projects) await close();
      await nats.close();
      await postgres?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openProject(cwd, { count, nats, postgres }) {
  mkdirSync(join(cwd, "skills"), { recursive: true });
  writeFileSync(join(cwd, "skills/echo.mjs"), SKILL);
  writeFileSync(
    join(cwd, "settings.yaml"),
    `store: ${JSON.stringify({ dir: "state", ...(postgres && { url: postgres.url() }) })}\n`,
  );
  const flags = count === 0 ? [] : ["--executors", nats.url];
  const front = await startProcess(cwd, ["serve", "--http", "--port", "0", "--no-auth", ...flags], /MCP at (\S+)\/mcp/);
  const executors = [];
  for (let at = 0; at < count; at++) executors.push(await startExecutor(cwd, nats));
  return {
    count,
    cwd,
    front,
    executors,
    run: createRunner(front.match),
    async close() {
      for (const { kill } of [front, ...executors]) await kill();
    },
  };
}

export function startExecutor(cwd, { url }) {
  return startProcess(cwd, ["executor", url], /connected to/);
}

export function createRunner(url) {
  const headers = { "content-type": "application/json" };
  return async (code) => {
    const body = JSON.stringify({ code });
    const response = await fetch(`${url}/tools/run_code`, { method: "POST", headers, body });
    const answer = await response.json();
    if (answer.data?.kind !== "completed") throw new Error(JSON.stringify(answer));
    return answer.data.value;
  };
}

export async function startProcess(cwd, args, wanted) {
  const env = { PATH: process.env.PATH, HOME: cwd, SKILLGATE_TRUSTED_FOLDERS: cwd };
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const match = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      const found = wanted.exec(line);
      if (found !== null) resolve(found[1]);
    });
    child.once("exit", () => reject(new Error(`skillgate ${args.join(" ")} has ended`)));
  });
  return {
    match,
    pid: child.pid,
    async kill(signal = "SIGKILL") {
      child.kill(signal);
      await exited;
    },
  };
}

/** Returns the processor time of a process and its children in milliseconds. */
export function readCpuMs(pid) {
  const processes = readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readStat(name) ?? []) : []));
  const sum = (id) =>
    processes.reduce(
      (total, each) => total + (each.pid === id ? each.cpuMs : each.parent === id ? sum(each.pid) : 0),
      0,
    );
  return sum(pid);
}

function readStat(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    return { pid: Number(pid), parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
  } catch {
    return undefined; // it has ended meanwhile
  }
}
