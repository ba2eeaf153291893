import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

import { createCpuReporter } from "./test/support/suite/cpu-report.ts";
import { hasTestsOf } from "./test/support/suite/select-files.ts";

/** `usual` is `npm test`, `rest` is what that leaves out; `all` is both. `nightly` is the rest with more examples. */
const part = process.env["SKILLGATE_TESTS"] ?? "usual";

/** Files whose tests need modules or a stack as in a new process, or count what their process holds. */
const ALONE: ReadonlySet<string> = new Set([
  "test/providers/skills/compile.test.ts",
  "test/providers/skills/reload.test.ts",
  "test/sandbox/codec.test.ts",
  "test/sandbox/threads.test.ts",
]);

/** Files that compare times of several processes: they run after all others, one by one. */
const QUIET: ReadonlySet<string> = new Set(["test/surfaces/neighbours.test.ts"]);

/** Only the folders of this clone, which itself can lie below a folder with such a name. */
const BUILT = ["dist", ".cache"].map((name) => new RegExp(`^${escapePattern(join(import.meta.dirname, name))}[\\\\/]`));

const files = listFiles();

export default defineConfig({
  test: {
    tags: [
      { name: "rest", description: "starts many processes, or takes seconds; not in `npm test`" },
      {
        name: "repeated",
        description: "few examples in `npm test`, more in the rest, and all every night, with new seeds",
      },
    ],
    ...(part === "usual" && { tagsFilter: ["!rest"] }),
    ...((part === "rest" || part === "nightly") && { tagsFilter: ["rest || repeated"] }),
    // Tests wait for events; a timeout only ends one that hangs, also on a machine with other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", createCpuReporter({ isUsual: part === "usual" })],
    pool: "forks",
    // Built modules need no transformation; each worker would hold their transformed texts, with their source maps.
    server: { deps: { external: BUILT } },
    // Some tests wait for time limits; more workers than cores use them meanwhile. Those of the rest wait for processes.
    maxWorkers: availableParallelism() + (part === "usual" ? 1 : 2),
    globalSetup: ["test/support/suite/temporary-folder.ts"],
    setupFiles: ["test/support/suite/measure-cpu.ts", "test/support/suite/disable-colors.ts"],
    projects: [
      // One process runs many files, so it loads modules once.
      {
        extends: true,
        test: {
          name: "together",
          include: files.filter((file) => !ALONE.has(file) && !QUIET.has(file)),
          isolate: false,
        },
      },
      { extends: true, test: { name: "alone", include: files.filter((file) => ALONE.has(file)) } },
      {
        extends: true,
        test: {
          name: "quiet",
          include: files.filter((file) => QUIET.has(file)),
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

/** Lists the files with tests of the part, by the tags in their text, so that no other file is loaded. */
function listFiles(): readonly string[] {
  return readdirSync("test", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `test/${file.replaceAll("\\", "/")}`)
    .filter((file) => hasTestsOf(part, readFileSync(file, "utf8")));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&");
}
