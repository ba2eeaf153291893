// `npm run conformance [client | server | gateway | dual]`: the protocol's own conformance suites, of both generations.
// `npm run conformance in-front-of URL` stands in front of any server that has the tools of the suites.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { suiteAt } from "./install.mjs";

const CLIENT = [process.execPath, join(import.meta.dirname, "client.mjs")].join(" ");

/** The suites start the clients of all scenarios at once, which takes a machine with two cores its time. */
const CLIENT_RUN = ["client", "--command", CLIENT, "--timeout", "120000"];

/** The suites write what they saw into the folder in which they run. */
const RESULTS = join(import.meta.dirname, "../../.cache/conformance/results");

const SERVER_RUNS = [
  ["0.1.16", ["server"]],
  ["0.2.0-alpha.12", ["server", "--requirements", "2025-11-25"]],
  ["0.2.0-alpha.12", ["server", "--requirements", "2026-07-28"]],
];

/** The scenarios of the extension of skills, which no revision of the protocol requires. */
const SKILL_RUNS = ["enumeration", "manifest", "directory"].map((part) => [
  "0.2.0-alpha.12",
  ["server", "--scenario", `sep-2640-skills-${part}`],
]);

/** What is run of which suite. */
const RUNS = {
  client: [
    ["0.1.16", [...CLIENT_RUN, "--suite", "all"]],
    ["0.2.0-alpha.12", [...CLIENT_RUN, "--requirements", "2025-11-25"]],
    ["0.2.0-alpha.12", [...CLIENT_RUN, "--requirements", "2026-07-28"]],
    ["0.2.0-alpha.12", [...CLIENT_RUN, "--suite", "extensions"]],
  ],
  server: [...SERVER_RUNS, ...SKILL_RUNS],
  gateway: [...SERVER_RUNS, ...SKILL_RUNS],
  // In the protocol of 2026, the tools of this server have no way to ask their client.
  dual: SERVER_RUNS.slice(0, 2),
  "in-front-of": SERVER_RUNS,
};

/** Where the skills of the suite are: in the server itself, or behind it. */
const SERVERS = { client: [], server: ["own"], gateway: ["http", "stdio"], dual: ["dual"] };

const [role = "server", ...rest] = process.argv.slice(2);
/** Of the suites only the first, where all of them would take too long. */
const isFirst = rest[0] === "--first";
const [behind, ...more] = role === "in-front-of" ? rest : [undefined, ...(isFirst ? rest.slice(1) : rest)];
if (!Object.hasOwn(RUNS, role)) throw new Error(`Say ${Object.keys(RUNS).join(" or ")}, not ${role}`);
mkdirSync(RESULTS, { recursive: true });
let failed = 0;
for (const [version, args] of isFirst ? RUNS[role].slice(0, 1) : RUNS[role]) {
  if (role === "client") run(version, args);
  for (const skills of SERVERS[role] ?? [behind]) {
    const server = await startServer(skills);
    run(version, [...args, "--url", server.url], skills);
    server.child.stdin.end();
    await once(server.child, "exit");
  }
}
process.exitCode = failed === 0 ? 0 : 1;

function run(version, args, title = "") {
  console.log(`\n# ${version} ${args.filter((arg) => !arg.includes("/") && arg !== "--command").join(" ")} ${title}`);
  const { script, node } = suiteAt(version);
  const { status } = spawnSync(node, [script, ...args, ...more], { cwd: RESULTS, stdio: "inherit" });
  if (status !== 0) failed += 1;
}

/** A server in a process of its own, as it is when nobody has called it yet. */
async function startServer(skills) {
  const script = join(import.meta.dirname, "server.mjs");
  const child = spawn(process.execPath, [script, skills], { stdio: ["pipe", "pipe", "inherit"] });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { child, url };
}
