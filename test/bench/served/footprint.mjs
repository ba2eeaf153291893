// Memory of processes, and the first run of a process on one processor.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { interleaved, table } from "../measure.mjs";
import { BIN, createProject, environment, serve } from "./server.mjs";

const BARE = fileURLToPath(new URL("../bare-server.mjs", import.meta.url));
const SKILLS = 500;
const SERVERS = 20;

/** The compiler of the type check stays in memory for a minute after the last program. */
const SETTINGS = { "settings.yaml": "typecheck: false\n" };

/** Prints the largest memory of the process, in megabytes. */
const REPORTER = `data:text/javascript,${encodeURIComponent(
  "import { isMainThread } from 'node:worker_threads'; if (isMainThread) process.on('exit', () => console.error('MB', process.resourceUsage().maxRSS / 1024));",
)}`;

export async function benchFootprint() {
  const empty = createProject(SETTINGS);
  const many = createProject({ ...SETTINGS, ...createManySkills() });
  const bare = spawn(process.execPath, [BARE, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: bare.stdout }), "line");
  const full = createProject({ ...SETTINGS, ...createManySkills(), ".mcp.json": createServers(url) });
  try {
    table(
      "Memory without the type check (MB)",
      ["", "MB"],
      [
        ["node -e 0", await readPeak(["-e", "0"], empty.folder)],
        ["skillgate run -e 1", await readPeak([BIN, "run", "-e", "1"], empty.folder)],
        ["skillgate serve", await readServed(empty.folder)],
        [`skillgate serve, ${SKILLS} skills`, await readServed(many.folder)],
        [`skillgate serve, ${SKILLS} skills and ${SERVERS} servers`, await readServed(full.folder)],
      ],
    );
    await compareFirstRuns(empty.folder);
  } finally {
    bare.kill();
    for (const project of [empty, many, full]) project.remove();
  }
}

function createManySkills() {
  const skill = (index) =>
    `/** Counts things of kind ${index}. */\nexport class Count${index}Skill {\n` +
    `  /** Count them. @param {number} from @returns {number} @readonly */\n  count(from) { return from + ${index}; }\n}\n`;
  return Object.fromEntries(Array.from({ length: SKILLS }, (_, index) => [`skills/count-${index}.mjs`, skill(index)]));
}

function createServers(url) {
  const entries = Array.from({ length: SERVERS }, (_, index) => [`bare${index}`, { url }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) });
}

async function readPeak(args, cwd) {
  const child = spawn(process.execPath, ["--import", REPORTER, ...args], {
    cwd,
    env: environment(cwd),
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  await once(child, "close");
  return Number(/MB (\S+)/.exec(said)?.[1]);
}

/** The memory of a server after its first answer and a rest. */
async function readServed(folder) {
  const server = await serve(folder);
  try {
    await callOnce(server.url);
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    return server.readMegabytes();
  } finally {
    await server.close();
  }
}

async function callOnce(url) {
  const params = { name: "run_code", arguments: { code: "1 + 1" } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const answer = await fetch(`${url}/rpc`, { method: "POST", headers: { "content-type": "application/json" }, body });
  const text = await answer.text();
  if (!text.includes('"value":2')) throw new Error(text);
}

async function compareFirstRuns(cwd) {
  const start = (args, processors) => async () => {
    const bound = ["-c", processors, process.execPath, ...args];
    const child = spawn("taskset", bound, { cwd, env: environment(cwd), stdio: "ignore" });
    await once(child, "close");
  };
  const run = [BIN, "run", "-e", "1"];
  const medians = await interleaved(
    {
      "node -e 0, one processor": start(["-e", "0"], "0"),
      "run -e 1, one processor": start(run, "0"),
      "node -e 0, two processors": start(["-e", "0"], "0-1"),
      "run -e 1, two processors": start(run, "0-1"),
    },
    8,
    1,
  );
  const bare = medians["node -e 0, two processors"];
  table(
    "The first run of a process (ms)",
    ["", "ms", "ratio"],
    Object.entries(medians).map(([name, ms]) => [name, ms, ms / bare]),
  );
}
