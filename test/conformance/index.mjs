// `npm run conformance [client | server]`: the protocol's own conformance suites, of both generations.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { suiteAt } from "./install.mjs";

const CLIENT = [process.execPath, join(import.meta.dirname, "client.mjs")].join(" ");
const SERVER = join(import.meta.dirname, "server.mjs");

/** What is run of which suite. */
const RUNS = {
  client: [
    ["0.1.16", ["client", "--command", CLIENT, "--suite", "all"]],
    ["0.2.0-alpha.12", ["client", "--command", CLIENT, "--requirements", "2025-11-25"]],
    ["0.2.0-alpha.12", ["client", "--command", CLIENT, "--requirements", "2026-07-28"]],
  ],
  server: [
    ["0.1.16", ["server"]],
    ["0.2.0-alpha.12", ["server", "--requirements", "2025-11-25"]],
    ["0.2.0-alpha.12", ["server", "--requirements", "2026-07-28"]],
  ],
};

const [role = "server", ...more] = process.argv.slice(2);
if (!Object.hasOwn(RUNS, role)) throw new Error(`Say ${Object.keys(RUNS).join(" or ")}, not ${role}`);
let failed = 0;
for (const [version, args] of RUNS[role]) {
  console.log(`\n# ${version} ${args.filter((arg) => arg !== CLIENT && arg !== "--command").join(" ")}`);
  const { script, node } = suiteAt(version);
  const server = role === "server" ? await startServer() : undefined;
  const target = server === undefined ? [] : ["--url", server.url];
  const { status } = spawnSync(node, [script, ...args, ...target, ...more], { stdio: "inherit" });
  server?.child.stdin.end();
  if (status !== 0) failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;

/** The fixture server of its own process, as it is when nobody has called it yet. */
async function startServer() {
  const child = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url };
}
