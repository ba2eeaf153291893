// Installs the package into an empty project as a user does, and executes the commands of README.md and docs/. Names those
// that fail, and ends with 1 if any does; then says how large the package is and how long the first runs take.
//
//   npm run try
//   node scripts/try.mjs --project FOLDER page.md …    in a project in which it is installed, the commands of these pages

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, relative } from "node:path";
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { npm, ROOT } from "./prepare.mjs";
import { readCommands } from "./try/commands.mjs";

const COMMAND_MS = 120_000;

const { values, positionals } = parseArgs({ options: { project: { type: "string" } }, allowPositionals: true });
const folder = mkdtempSync(join(tmpdir(), "skillgate-try-"));
try {
  const project = values.project ?? join(folder, "shop");
  const facts = values.project === undefined ? install(project) : [];
  const failures = executePages(positionals.length > 0 ? positionals : listPages(), project);
  for (const fact of facts) console.log(fact);
  process.exitCode = failures === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function listPages() {
  const pages = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  return ["README.md", ...pages.map((name) => `docs/${name}`)].map((page) => join(ROOT, page));
}

/** Packs, installs and sets up a project. Returns lines about sizes and times. */
function install(project) {
  mkdirSync(project);
  const [command, ...args] = npm();
  must(command, [...args, "pack", "--silent", "--pack-destination", folder], ROOT);
  const archive = join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".tgz")),
  );
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  const start = performance.now();
  must(command, [...args, "install", "--no-audit", "--no-fund", archive], project);
  const installMs = performance.now() - start;
  const sizes = `package ${megabytes(statSync(archive).size)}, installed ${megabytes(measure(join(project, "node_modules")))}`;
  const times = ["first", "second"].map((which) => {
    const { status, ms } = execute("skillgate run -e '1 + 1'", project);
    if (status !== 0) throw new Error(`The ${which} run has failed`);
    return `${which} run ${seconds(ms)}`;
  });
  return [sizes, `npm install ${seconds(installMs)}, ${times.join(", ")}`];
}

/** Executes the commands one after the other, and reports each. Returns how many have failed. */
function executePages(pages, project) {
  writeFileSync(join(project, "program.js"), "1 + 1\n");
  mkdirSync(join(folder, "home/.cursor"), { recursive: true });
  writeFileSync(join(folder, "home/.cursor/mcp.json"), '{ "mcpServers": {} }\n');
  const counts = { ok: 0, failed: 0, skipped: 0 };
  for (const { place, text, shell, skipped } of pages.flatMap((page) => readCommands(page, relative(ROOT, page)))) {
    if (skipped !== undefined) {
      counts.skipped++;
      console.log(`skipped  ${place}  ${text}  (${skipped})`);
      continue;
    }
    const { status, output, ms } = execute(shell, project);
    counts[status === 0 ? "ok" : "failed"]++;
    console.log(`${status === 0 ? "ok     " : "FAILED "}  ${place}  ${text}  (${seconds(ms)})`);
    if (status !== 0) console.log(`${output.trimEnd()}\nexit ${status}`.replaceAll(/^/gm, "    "));
  }
  console.log(`${counts.ok} commands succeeded, ${counts.failed} failed, ${counts.skipped} were skipped`);
  return counts.failed;
}

/** Executes a command as a user of the project types it, with an empty home directory and nothing on standard input. */
function execute(text, cwd) {
  const home = join(folder, "home");
  mkdirSync(home, { recursive: true });
  const env = {
    ...process.env,
    PATH: `${join(cwd, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
    HOME: home,
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, "config"),
    SKILLGATE_TRUSTED_FOLDERS: cwd,
  };
  const start = performance.now();
  const { status, signal, stdout, stderr } = spawnSync("sh", ["-c", text], {
    cwd,
    env,
    encoding: "utf8",
    input: "",
    timeout: COMMAND_MS,
  });
  return { status: status ?? signal, output: stdout + stderr, ms: performance.now() - start };
}

function must(command, args, cwd) {
  const { status, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")} has failed: ${stderr}`);
}

function measure(path) {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function seconds(ms) {
  return `${(ms / 1_000).toFixed(2)} s`;
}
