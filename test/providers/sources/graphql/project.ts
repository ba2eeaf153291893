import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, onTestFinished } from "vitest";

import { createRuntime, type Runtime, type RuntimeOptions } from "../../../../src/index.ts";
import type { SourceSettings } from "../../../../src/runtime/options.ts";
import type { GraphServer } from "../../../support/servers/graph-server.ts";
import type { YogaPlugin } from "../../../support/servers/yoga.mjs";
import { startTracker, TRACKER } from "./tracker.ts";

export interface Tracker {
  readonly server: GraphServer;
  readonly cwd: string;
  readonly open: (source?: Partial<SourceSettings>, options?: RuntimeOptions) => Promise<Runtime>;
}

/** A tracker, and a project with its schema as a file. `cwd` is a folder of the tests of a file, if they share it. */
export async function startProject(
  plugins: readonly YogaPlugin[] = [],
  cwd: string = createTestFolder(),
): Promise<Tracker> {
  const server = await startTracker(plugins);
  const open: Tracker["open"] = async (source, options) => {
    const tracker = { graphql: server.url, schema: "./tracker.graphql", private: true, ...source };
    const runtime = await createRuntime({
      cwd,
      skillsDir: false,
      workers: 1,
      typecheck: false,
      env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4) },
      mcp: { stateDir: join(cwd, "state") },
      sources: { tracker },
      ...options,
    });
    onTestFinished(() => runtime.close());
    await runtime.known;
    return runtime;
  };
  return { server, cwd, open };
}

function createTestFolder(): string {
  const folder = createFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns what creates one folder for the tests of a file that leave the schema as it is: it is compiled once. */
export function shareProjectFolder(): () => string {
  let folder: string | undefined;
  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  return () => (folder ??= createFolder());
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-tracker-"));
  writeFileSync(join(folder, "tracker.graphql"), TRACKER);
  return folder;
}
