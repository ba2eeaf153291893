// One row for each server: Skillgate starts it, lists its tools, compiles their declarations, calls one, and ends it.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

import { createRuntime } from "../../dist/src/index.js";
import { installOne } from "./install-one.mjs";
import { SERVERS } from "./server-list.mjs";
import { toCell } from "./table.mjs";

/** The variable by which the processes of a server are found after its end. */
const MARK = "SKILLGATE_COMPAT";

const LIMITS = { wallMs: 30_000 };

export const SERVER_COLUMNS = ["server", "version", "tools", "protocol", "declarations", "one call", "leftovers"];

/** Measures every server, one after the other, and says each row. */
export async function measureServers(folder, say) {
  const rows = [];
  for (const entry of SERVERS) {
    const row = await measureServer(folder, entry);
    say(row);
    rows.push(row);
  }
  return rows;
}

async function measureServer(folder, { package: wanted, args = [], env = {}, call }) {
  const { name, version, home, problem } = installOne(folder, wanted);
  if (problem !== undefined) return [name, version, problem, "–", "–", "–", "–"];
  const work = join(home, "work");
  mkdirSync(work, { recursive: true });
  const fill = (text) => text.replaceAll("FOLDER", work);
  const mark = `${process.pid}-${name}`;
  const runtime = await createRuntime({
    skillsDir: false,
    mcpServers: {
      compat: {
        command: process.execPath,
        args: [findScript(home, name), ...args.map(fill)],
        cwd: work,
        env: { ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, fill(value)])), [MARK]: mark },
      },
    },
  });
  let cells;
  let running;
  try {
    await runtime.ready;
    cells = await describeServer(runtime, { call: call && JSON.parse(fill(JSON.stringify(call))), work });
    running = countProcesses(mark);
  } finally {
    await runtime.close();
  }
  return [name, version, ...cells, describeLeftovers(running, countProcesses(mark))];
}

/** Says so where the processes could not be counted even while the server ran. */
function describeLeftovers(running, left) {
  if (running === 0) return "not counted";
  return left === 0 ? "none" : `${left} of ${running} processes`;
}

async function describeServer(runtime, { call, work }) {
  const [{ status, error, protocolVersion, tools, quarantined }] = runtime.servers;
  if (status !== "connected") return [toCell(error), "–", "–", "–"];
  const count = tools.length + quarantined.length;
  const served = quarantined.length === 0 ? `${count}` : `${tools.length} of ${count}`;
  return [
    served,
    protocolVersion,
    compile(runtime.declarations(), work),
    await callOne(runtime, tools, { call, work }),
  ];
}

/** Calls the tool of the list, or one that only reads, with an example for each argument that it requires. */
async function callOne(runtime, tools, { call, work }) {
  const methods = tools.map(({ name, method }) => ({
    name,
    method: runtime.catalog.methods.find(({ path }) => path === `CompatMCP.${method}`),
  }));
  const chosen =
    methods.find(({ name }) => name === call?.[0]) ??
    methods.find(({ method }) => method.readOnly && requires(method) === 0) ??
    methods.toSorted((a, b) => requires(a.method) - requires(b.method))[0];
  if (chosen === undefined) return "no tool";
  const input = call?.[1] ?? fillIn(chosen.method.input);
  const source = `return await device.CompatMCP[${JSON.stringify(chosen.method.name)}](${JSON.stringify(input)});`;
  const outcome = await runtime.run(source, { limits: LIMITS });
  const answer =
    outcome.kind === "completed"
      ? "answers"
      : outcome.kind === "failed"
        ? `error: ${toCell(outcome.error.message.replaceAll(work, "the folder"))}`
        : `refused: ${outcome.violations.map(({ code }) => code).join(", ")}`;
  return `\`${chosen.name}\` ${answer}`;
}

function requires({ input }) {
  return input?.required?.length ?? 0;
}

function fillIn({ properties = {}, required = [] } = {}) {
  return Object.fromEntries(required.map((name) => [name, toExample(properties[name])]));
}

function toExample({ type, enum: values, default: usual } = {}) {
  return usual ?? values?.[0] ?? { number: 1, integer: 1, boolean: true, array: [], object: {} }[type] ?? "example";
}

/** `compile`, or the number of errors that TypeScript reports in strict mode. */
function compile(text, work) {
  const file = join(work, "declarations.d.ts");
  writeFileSync(file, text);
  const program = ts.createProgram([file], { strict: true, noEmit: true, lib: ["lib.es2022.d.ts"], types: [] });
  const { length } = ts.getPreEmitDiagnostics(program);
  return length === 0 ? "compile" : `${length} errors`;
}

/** The script of the command that a package installs. */
function findScript(home, name) {
  const folder = join(home, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const scripts = typeof bin === "string" ? { [name]: bin } : bin;
  return join(folder, scripts[name.split("/").at(-1)] ?? Object.values(scripts)[0]);
}

/** How many processes carry the mark in their environment; they are found on Linux. */
function countProcesses(mark) {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && readEnvironment(pid).includes(`${MARK}=${mark}\0`))
    .length;
}

function readEnvironment(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return ""; // it has ended, or belongs to another user
  }
}
