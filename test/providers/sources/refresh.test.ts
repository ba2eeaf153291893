import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";

const createDocument = (summary: string): string =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Pets", version: "1" },
    servers: [{ url: "/v1" }],
    paths: { "/pets": { get: { operationId: "listPets", summary, responses: {} } } },
  });

/** A server of a document that compares ETags, and a project that reads it again once a day. */
async function createProject() {
  let [summary, status] = ["Lists pets", 200];
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    requests.push(headers);
    const etag = JSON.stringify(summary);
    if (status !== 200) response.writeHead(status).end();
    else if (headers["if-none-match"] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { etag }).end(createDocument(summary));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  onTestFinished(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const openapi = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api.json`;
  const sources = join(folder, "state", "sources");
  return {
    requests,
    serve: (changes: { summary?: string; status?: number }): void =>
      void ({ summary = summary, status = status } = changes),
    /** Makes the document one that was read two days ago. */
    age: (): void => {
      for (const file of readdirSync(sources).filter((each) => each.endsWith(".json"))) {
        const state = JSON.parse(readFileSync(join(sources, file), "utf8")) as { readAt: number };
        writeFileSync(join(sources, file), JSON.stringify({ ...state, readAt: state.readAt - 2 * 86_400_000 }));
      }
    },
    start: async (refresh = "24h"): Promise<Runtime> => {
      const runtime = await createRuntime({
        cwd: folder,
        skillsDir: false,
        workers: 1,
        sources: { pets: { openapi, private: true, refresh } },
        mcp: { stateDir: join(folder, "state") },
      });
      onTestFinished(() => runtime.close());
      await runtime.known;
      return runtime;
    },
  };
}

const getNames = (runtime: Runtime): readonly string[] =>
  runtime.catalog.skill("PetsAPI")?.methods.map(({ name }) => name) ?? [];

const isFresh = (runtime: Runtime): boolean => (runtime.listApis()[0]?.readAt ?? 0) > Date.now() - 60_000;

test("reads a document at a URL again when it is due, and asks its server whether it is the same [M10]", async () => {
  const project = await createProject();
  await (await project.start()).close();
  await (await project.start()).close();
  expect(project.requests).toHaveLength(1);

  project.age();
  await (await project.start("never")).close();
  expect(project.requests).toHaveLength(1);

  const same = await project.start();
  expect(getNames(same)).toEqual(["listPets"]);
  await expect.poll(() => isFresh(same)).toBe(true);
  expect(project.requests.map((headers) => headers["if-none-match"])).toEqual([undefined, '"Lists pets"']);
  await same.close();

  project.age();
  project.serve({ summary: "Finds pets" });
  const changed = await project.start();
  // The start does not wait for the server.
  expect(getNames(changed)).toEqual(["listPets"]);
  await expect.poll(() => changed.listApis()[0]?.changes).toMatchObject([{ name: "listPets", kind: "changed" }]);
  expect(changed.catalog.method("PetsAPI.listPets")?.description).toContain("Finds pets");
});

test("serves the last catalog of a document at a URL that is gone, and says so [M10]", async () => {
  const project = await createProject();
  await (await project.start()).close();
  project.age();
  project.serve({ status: 404 });
  const runtime = await project.start();
  await expect
    .poll(() => runtime.problems)
    .toMatchObject([
      { source: "sources.pets", error: expect.stringContaining("HTTP 404; the catalog of its last document serves") },
    ]);
  expect(getNames(runtime)).toEqual(["listPets"]);
  expect(project.requests).toHaveLength(2);
  project.serve({ status: 200 });
  await runtime.refreshApi("pets");
  expect(runtime.problems).toEqual([]);
});
