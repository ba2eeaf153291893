import { defineConfig } from "vitest/config";

import { slowestFiles } from "./test/support/slowest-files.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Tests wait for events; a timeout only ends one that hangs, also on a machine with other work.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", slowestFiles],
    pool: "forks",
    maxWorkers: "100%",
    setupFiles: ["test/support/disable-colors.ts"],
  },
});
