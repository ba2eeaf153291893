// A served project for measurements, and what the process uses.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../../../dist/src/bin.js", import.meta.url));

/** Creates a project with these files. */
export function createProject(files) {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The environment of a command in a project that is trusted. */
export function environment(folder) {
  return { PATH: process.env.PATH, HOME: folder, SKILLGATE_TRUSTED_FOLDERS: folder };
}

/** Starts `serve --http` in a folder, of the build at `bin`, with these options of Node and further variables. */
export async function serve(folder, { nodeOptions = [], bin = BIN, env = {} } = {}) {
  const [command, ...args] = [process.execPath, ...nodeOptions, bin, "serve", "--http", "--port", "0", "--no-auth"];
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...environment(folder), ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the server ends with code ${code}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      const [, found] = /MCP at (\S+)\/mcp/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  return {
    url,
    readMegabytes: () => readMegabytes(child.pid),
    readCpuMs: () => readCpuMs(child.pid),
    readMainThreadMs: () => readMainThreadMs(child.pid),
    kill: (signal) => child.kill(signal),
    async close() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

function readMegabytes(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(kilobytes) / 1_024;
}

/** User and system time of all threads; a tick of the kernel is 10 ms. */
function readCpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Time that the main thread of a process has run on a processor. */
export function readMainThreadMs(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
