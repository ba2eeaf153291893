// From the start of a process to its first result.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interleaved, table } from "./measure.mjs";

const root = new URL("../../", import.meta.url);

export async function benchStart() {
  const empty = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  const sandbox = `import { createSandbox } from ${JSON.stringify(new URL("dist/sandbox/index.js", root).href)};
    const limits = { cpuMs: 1e3, wallMs: 1e4, memoryBytes: 64 << 20, calls: 1, callsInFlight: 1, argumentBytes: 1e6, answerBytes: 1e6, resultBytes: 1e6, outputBytes: 1e6 };
    const sandbox = createSandbox({ limits });
    const { end } = await sandbox.run({ code: "return 1", paths: [] }, async () => ({ ok: true, json: "0" }));
    if (end.json !== "1") process.exit(1);
    await sandbox.close();`;
  const bin = new URL("dist/src/bin.js", root).pathname;
  const medians = await interleaved(
    {
      bare: () => node(["-e", "0"], empty),
      engine: () => node(["--input-type=module", "-e", sandbox], empty),
      command: () => node([bin, "run", "-e", "1"], empty),
    },
    8,
    2,
  );
  rmSync(empty, { recursive: true });
  table(
    "From the start of a process to its end, ms",
    ["", "ms", "× bare"],
    [
      ["node -e 0", medians.bare, 1],
      ["the sandbox alone, one run", medians.engine, medians.engine / medians.bare],
      ["skillgate run -e 1", medians.command, medians.command / medians.bare],
    ],
  );
}

function node(args, cwd) {
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
