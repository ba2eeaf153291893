// Cloudflare's code mode as Cloudflare has it: its executor lives in a worker of workerd, the tool is a function of that
// worker, and each run loads a fresh worker. Node asks over HTTP on a connection that stays open: a fifteenth of a run.

import { build } from "esbuild";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.mjs", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "LOADER", workerLoader = ())],
);
`;

const workerSource = (results) => `import { DynamicWorkerExecutor } from "@cloudflare/codemode";
const results = ${JSON.stringify(results)};
const providers = [{ name: "web", fns: { search: async () => results } }];
export default {
  async fetch(request, { LOADER }) {
    const executor = new DynamicWorkerExecutor({ loader: LOADER });
    return Response.json(await executor.execute(await request.text(), providers));
  },
};
`;

/** `peers` is the folder they are installed in, `workerd` the path of the program. */
export async function openCloudflare({ peers, workerd, results, program }) {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  await build({
    stdin: { contents: workerSource(results), resolveDir: peers },
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    external: ["cloudflare:*", "node:*"],
    logLevel: "silent",
  });
  writeFileSync(join(folder, "config.capnp"), CONFIG);
  const { port, end } = await startWorkerd(workerd, folder);
  const agent = new Agent({ keepAlive: true });
  return {
    async run() {
      const { result, error } = await post({ host: "127.0.0.1", port, agent }, `async () => { ${program} }`);
      if (error !== undefined) throw new Error(error);
      return result;
    },
    close() {
      agent.destroy();
      end();
    },
  };
}

async function startWorkerd(workerd, folder) {
  const stdio = ["ignore", "ignore", "inherit", "pipe"];
  const child = spawn(workerd, ["serve", "--experimental", "--control-fd=3", "config.capnp"], { cwd: folder, stdio });
  const end = () => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", end);
  await once(child, "spawn");
  for await (const line of createInterface(child.stdio[3])) {
    const { event, port } = JSON.parse(line);
    if (event === "listen") return { port, end };
  }
  throw new Error("workerd ended before it listened");
}

function post(to, body) {
  return new Promise((resolve, reject) => {
    const asked = request({ ...to, method: "POST" }, (response) => void json(response).then(resolve, reject));
    asked.on("error", reject).end(body);
  });
}
