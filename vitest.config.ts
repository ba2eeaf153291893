import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

import { createCpuReporter } from "./test/support/suite/cpu-report.ts";

/**
 * Folders whose tests only compute: they start no process, thread or server, and change nothing outside of their file.
 * One process runs all files of a worker, so modules are loaded once.
 */
const COMPUTING = ["frontend", "gatekeeper", "model", "observed", "registry", "shared", "validation"];

/** `rest` is what `npm test` leaves out; `all` is both. */
const part = process.env["SKILLGATE_TESTS"] ?? "usual";

export default defineConfig({
  test: {
    // Tests wait for events; a timeout only ends one that hangs, also on a machine with other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", createCpuReporter({ isRest: part !== "usual" })],
    pool: "forks",
    maxWorkers: "100%",
    setupFiles: ["test/support/suite/measure-cpu.ts", "test/support/suite/disable-colors.ts"],
    projects: [
      {
        extends: true,
        test: { name: "computing", ...selectFiles(COMPUTING.map((folder) => `test/${folder}/**`)), isolate: false },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          ...selectFiles(
            ["test/**"],
            COMPUTING.map((folder) => `test/${folder}/**`),
          ),
        },
      },
    ],
  },
});

/** Selects the files of the folders that belong to the part. Repeated proofs belong to both: the rest repeats more, with new seeds. */
function selectFiles(folders: readonly string[], except: readonly string[] = []) {
  const usual = folders.map((folder) => `${folder}/*.test.ts`);
  const rest = folders.map((folder) => `${folder}/*.all.test.ts`);
  const repeated = part === "rest" ? listRepeatedTests().filter((file) => isBelow(file, folders)) : [];
  return {
    include: part === "rest" ? [...rest, ...repeated] : usual,
    exclude: [...except, ...(part === "usual" ? ["**/*.all.test.ts"] : [])],
  };
}

function listRepeatedTests(): readonly string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".test.ts"));
  const paths = files.map((file) => `test/${file.replaceAll("\\", "/")}`);
  return paths.filter((file) => /\/support\/(?:fuzz|repetitions)\.ts"/.test(readFileSync(file, "utf8")));
}

function isBelow(file: string, folders: readonly string[]): boolean {
  return folders.some((folder) => file.startsWith(folder.replace(/\*+$/, "")));
}
