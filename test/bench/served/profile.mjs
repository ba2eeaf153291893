// Which parts of the code take the time of a process's main thread: sums of a CPU profile by the folders of the modules.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { table } from "../measure.mjs";

const MAX_ROWS = Number(process.env.ROWS ?? 40);

/** Options of Node for a process whose main thread is profiled between two signals SIGUSR2; the profile is written to a file. */
export function profileOptions(file) {
  const script = `
    import { Session } from "node:inspector/promises";
    import { renameSync, writeFileSync } from "node:fs";
    import { isMainThread } from "node:worker_threads";
    if (isMainThread) {
      const session = new Session();
      session.connect();
      let isStarted = false;
      process.on("SIGUSR2", async () => {
        if (isStarted) {
          const { profile } = await session.post("Profiler.stop");
          writeFileSync(${JSON.stringify(`${file}.part`)}, JSON.stringify(profile));
          renameSync(${JSON.stringify(`${file}.part`)}, ${JSON.stringify(file)});
          return;
        }
        isStarted = true;
        await session.post("Profiler.enable");
        await session.post("Profiler.start");
      });
    }`;
  return ["--import", `data:text/javascript,${encodeURIComponent(script)}`];
}

/** Prints the milliseconds a run that each part takes. */
export function printProfile(file, runs, { byFunction = false } = {}) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, "utf8"));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parts = new Map();
  samples.forEach((id, index) => {
    const part = findPart(byId.get(id).callFrame, byFunction);
    parts.set(part, (parts.get(part) ?? 0) + timeDeltas[index] / 1_000);
  });
  parts.delete("(idle)");
  const total = [...parts.values()].reduce((sum, ms) => sum + ms, 0);
  const rows = [...parts].toSorted(([, a], [, b]) => b - a).map(([part, ms]) => [part, ms / runs, (100 * ms) / total]);
  table(
    "The main thread by part, with the profiler",
    ["", "ms a run", "%"],
    [["all", total / runs, 100], ...rows.slice(0, MAX_ROWS)],
  );
}

function findPart({ functionName, url, lineNumber }, byFunction) {
  if (url === "") return functionName === "" ? "(native)" : functionName.startsWith("(") ? functionName : "(native)";
  if (!url.startsWith("file:")) return url.startsWith("node:") ? url.split("/").slice(0, 2).join("/") : url;
  const path = fileURLToPath(url);
  const [, dependency] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  if (dependency !== undefined) return dependency;
  const module = findModule(path, lineNumber);
  return byFunction ? `${functionName} ${module}` : module.split("/").slice(0, 3).join("/");
}

const bundles = new Map();

/** A bundle names each module in a comment before its code. */
function findModule(path, line) {
  let lines = bundles.get(path);
  if (lines === undefined) {
    lines = readFileSync(path, "utf8").split("\n");
    bundles.set(path, lines);
  }
  for (let at = line; at >= 0; at--) {
    const [, module] = /^\/\/ ((?:\.\.\/)*[\w./-]+\.[mc]?js)$/.exec(lines[at]) ?? [];
    if (module !== undefined) return module.replace(/^\.cache\/build-\d+\//, "");
  }
  return path.replace(/^.*\/dist\//, "");
}
