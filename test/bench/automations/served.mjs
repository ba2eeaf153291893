// Automations of served projects, from their slots until their effects: `node test/bench/automations/served.mjs`, after a build.
//
// 10,000 automations with schedules, of which 100 are due at each full minute, in `skillgate serve` with SQLite and PostgreSQL, and
// with two fronts and executors. Each run has one effect. Beside them, clients send programs over HTTP all the time.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { createKeys } from "../../../dist/src/keys/index.js";
import { createRuntime } from "../../../dist/src/index.js";
import { median, table } from "../measure.mjs";
import { createRunner, importSupport, startExecutor, startProcess } from "../scaling/processes.mjs";

const COUNT = Number(process.env.COUNT ?? 10_000);
const DUE = 100;
/** Full minutes that are measured of each project, after a first one. */
const SLOTS = 2;
const MINUTE_MS = 60_000;
/** What the clients see in this time after a slot counts as beside the slot. */
const BESIDE_MS = 5_000;
/** Programs a second, as a person and some agents send them. */
const CLIENT_PAUSE_MS = 50;

const SKILL = `
import { appendFileSync } from "node:fs";

/** Posts messages. */
export class BoardSkill {
  /**
   * Post a message.
   * @param {string} text
   * @returns {number}
   */
  post(text) { appendFileSync("posts.log", Date.now() + " " + text + "\\n"); return 1; }

  /**
   * Repeat a number.
   * @param {number} value
   * @returns {number}
   * @readonly
   */
  read(value) { return value; }
}
`;

const SOURCE = "const { slot } = device.input();\nawait device.BoardSkill.post(slot);\n";

const [{ startNats }, postgresql] = await Promise.all([importSupport("nats"), importSupport("postgres")]);
const programs = postgresql.findPostgres();
const [nats, postgres] = [await startNats(), programs && (await postgresql.startPostgres(programs))];
const folder = mkdtempSync(join(tmpdir(), "skillgate-automations-"));
try {
  console.log(`Node ${process.version}, ${availableParallelism()} cores`);
  const projects = [
    { name: "one process, SQLite", fronts: 1, executors: 0 },
    ...(postgres
      ? [
          { name: "one process, PostgreSQL", url: postgres.url, fronts: 1, executors: 0 },
          { name: "two processes, PostgreSQL", url: postgres.url, fronts: 2, executors: 0 },
          { name: "two fronts, two executors, PostgreSQL", url: postgres.url, fronts: 2, executors: 2 },
        ]
      : []),
  ];
  const rows = [];
  for (const [at, project] of projects.entries()) rows.push(await measure(join(folder, String(at)), project));
  const columns = ["", "slots", "runs", "first, s", "median, s", "last, s", "a client, ms", "beside it, ms"];
  table(`${COUNT} schedules, ${DUE} due in one second: from the slot to its effect`, columns, rows);
} finally {
  await nats.close();
  await postgres?.close();
  rmSync(folder, { recursive: true, force: true });
}

async function measure(cwd, { name, url, fronts, executors }) {
  await writeProject(cwd, url?.());
  const flags = executors === 0 ? [] : ["--executors", nats.url];
  const serve = ["serve", "--http", "--port", "0", "--no-auth", ...flags];
  const processes = [];
  for (let at = 0; at < executors; at++) processes.push(await startExecutor(cwd, nats));
  for (let at = 0; at < fronts; at++) processes.push(await startProcess(cwd, serve, /MCP at (\S+)\/mcp/));
  // The slot before it compiles and imports.
  const first = Math.ceil(Date.now() / MINUTE_MS + 1) * MINUTE_MS;
  const client = startClient(createRunner(processes.at(-1).match));
  await pause(first + (SLOTS - 0.5) * MINUTE_MS - Date.now());
  const times = await client.stop();
  for (const each of processes) await each.kill();
  const posts = readPosts(cwd).filter(({ slot }) => slot >= first);
  const late = posts.map(({ at, slot }) => (at - slot) / 1_000);
  const beside = times.filter(({ at }) => at >= first && at % MINUTE_MS < BESIDE_MS).map(({ ms }) => ms);
  const alone = times.filter(({ at }) => at % MINUTE_MS > 4 * BESIDE_MS).map(({ ms }) => ms);
  const ends = [Math.min(...late), median(late), Math.max(...late)];
  return [name, new Set(posts.map(({ slot }) => slot)).size, posts.length, ...ends, median(alone), median(beside)];
}

/** Writes a project whose automations are accepted. */
async function writeProject(cwd, url) {
  for (const name of ["skills", "automations"]) mkdirSync(join(cwd, name), { recursive: true });
  writeFileSync(join(cwd, "skills/board.mjs"), SKILL);
  const store = { dir: "state", ...(url && { url }) };
  writeFileSync(join(cwd, "settings.yaml"), JSON.stringify({ store, typecheck: "off" }));
  for (let at = 0; at < COUNT; at++) writeFileSync(join(cwd, "automations", `job-${at}.yaml`), createFile(at));
  const env = { ...process.env, HOME: cwd, SKILLGATE_TRUSTED_FOLDERS: cwd };
  const runtime = await createRuntime({ cwd, env, settings: join(cwd, "settings.yaml"), watch: false });
  try {
    await runtime.ready;
    const database = await runtime.database();
    await createKeys(database).create({ name: "poster", permissions: ["call:BoardSkill.*"] });
    await runtime.automations.accept("job-0");
    await acceptOthers(database);
  } finally {
    await runtime.close();
  }
}

/** Accepts the others as the first one is: a look at 10,000 files for each of them would take an hour. */
async function acceptOthers({ automations }) {
  const { createHash } = await import("node:crypto");
  const row = await automations.get("job-0");
  const version = await automations.getVersion("job-0");
  for (let at = 1; at < COUNT; at++) {
    const text = createFile(at);
    const digest = createHash("sha256").update(text).digest("hex");
    await automations.put({ ...row, name: `job-${at}`, digest }, { ...version, text });
  }
}

/** The first are due each minute, the others at one time of the day that is hours away. */
function createFile(at) {
  const hour = (new Date().getUTCHours() + 3 + (at % 18)) % 24;
  const schedule = at < DUE ? { cron: "* * * * *" } : { cron: `${at % 60} ${hour} * * *`, zone: "UTC" };
  return JSON.stringify({ description: `Job ${at}`, key: "poster", schedule, source: SOURCE });
}

function readPosts(cwd) {
  const lines = readFileSync(join(cwd, "posts.log"), "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [at, slot] = line.split(" ");
    return { at: Number(at), slot: Date.parse(slot) };
  });
}

/** Sends programs one after the other, and notes when each was sent and how long it took. */
function startClient(run) {
  const times = [];
  const state = { isEnded: false };
  const loop = async () => {
    for (let n = 0; !state.isEnded; n++) {
      const at = Date.now();
      const since = performance.now();
      await run(`await device.BoardSkill.read(${n})`);
      times.push({ at, ms: performance.now() - since });
      await pause(CLIENT_PAUSE_MS);
    }
  };
  const ended = loop();
  return {
    async stop() {
      state.isEnded = true;
      await ended;
      return times;
    },
  };
}
