// @module-tag rest

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import type { Caller } from "../../src/index.ts";
import { startTracker, TRACKER } from "../providers/sources/graphql/tracker.ts";
import { NATS_SERVER, startNats } from "../support/servers/nats.ts";
import { openFront, type Project, startExecutorHere } from "./network.ts";

const TOKEN = "token-of-the-tracker-0123456789";
const ADA: Caller = { id: "ada", permissions: ["call:*"] };

describe.skipIf(NATS_SERVER === undefined)("calls of GraphQL APIs of programs on executors", () => {
  test("are made by a front, with files, and the credential is there alone [O3]", async () => {
    const server = await startTracker();
    const nats = await startNats();
    const folder = mkdtempSync(join(tmpdir(), "skillgate-executors-"));
    onTestFinished(async () => {
      await nats.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const schema = join(folder, "tracker.graphql");
    writeFileSync(schema, TRACKER);
    const createProject = (variables: Readonly<Record<string, string>>): Project => ({
      url: nats.url,
      location: { folder },
      options: {
        accounts: { tracker: { type: "bearer", token: "${TRACKER_KEY}" } },
        sources: { tracker: { graphql: server.url, schema, private: true, account: "tracker" } },
        env: { HOME: folder, ...variables },
      },
    });
    const executor = await startExecutorHere(createProject({}), []);
    const { runtime } = await openFront(createProject({ TRACKER_KEY: TOKEN }), []);
    await Promise.all([executor.runtime.known, runtime.known]);
    const outcome = await runtime.run(
      `
        const { attach } = await device.TrackerGraph.mutate({
          query: \`mutation ($file: Upload!) { attach(number: 1, file: $file) { name text } }\`,
          variables: { file: { filename: "a.txt", data: new Uint8Array([104, 105]) } },
        });
        const { issue } = await device.TrackerGraph.query({ query: \`{ issue(number: 2) { secret } }\` });
        return [attach, issue];
      `,
      { caller: ADA },
    );
    expect(outcome).toMatchObject({ kind: "completed", value: [[{ name: "a.txt", text: "hi" }], { secret: null }] });
    expect(JSON.stringify(outcome)).toContain("No access to issue 2 (FORBIDDEN)");
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${TOKEN}`, `Bearer ${TOKEN}`]);
  });
});
