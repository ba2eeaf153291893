import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";

const ANSWERS: Readonly<Record<string, readonly [status: number, type: string, body: Buffer]>> = {
  file: [200, "application/octet-stream", Buffer.alloc(200_000, 7)],
  lines: [200, "application/x-ndjson", Buffer.from('{"a":1}\n{"a":2}\n')],
  gone: [204, "application/json", Buffer.alloc(0)],
  numbers: [200, "application/json", Buffer.from(JSON.stringify([1, 2]))],
  events: [200, "text/event-stream", Buffer.from("data: tick\n\n".repeat(100_000))],
};

/** An API whose answers are of several kinds. The second page of its numbers is empty. */
async function openKinds(): Promise<{ readonly runtime: Runtime; readonly urls: readonly string[] }> {
  const urls: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    urls.push(url);
    const [status, type, body] = ANSWERS[/\w+/.exec(url)?.[0] ?? ""] ?? [404, "", Buffer.alloc(0)];
    response.writeHead(status, { "content-type": type });
    response.end(url.includes("page=2") ? "[]" : body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const folder = mkdtempSync(join(tmpdir(), "skillgate-"));
  const list = { type: "array", items: { type: "integer" } };
  const paths = Object.entries(ANSWERS).map(([name, [status, type]]) => [
    `/${name}`,
    {
      get: {
        operationId: name,
        parameters: name === "numbers" ? [{ name: "page", in: "query", schema: { type: "integer" } }] : [],
        responses: { [status]: { description: name, content: { [type]: name === "numbers" ? { schema: list } : {} } } },
      },
    },
  ]);
  const document = { openapi: "3.0.0", info: { title: "Kinds" }, paths: Object.fromEntries(paths) };
  writeFileSync(join(folder, "kinds.json"), JSON.stringify(document));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const runtime = await createRuntime({
    cwd: folder,
    skillsDir: false,
    workers: 1,
    sources: { kinds: { openapi: "./kinds.json", server: address, private: true } },
    runs: { record: "full" },
  });
  onTestFinished(async () => {
    await runtime.close();
    server.close();
    rmSync(folder, { recursive: true });
  });
  await runtime.known;
  return { runtime, urls };
}

test("bytes are bytes for a program, and a large result of a run gets a handle [S11]", { tags: "rest" }, async () => {
  const { runtime } = await openKinds();
  const file = await runtime.run("const file = await device.KindsAPI.file(); print(file.length, file[9]); file");
  expect(file).toMatchObject({ kind: "completed", output: "200000 7" });
  expect(file.text).toContain("r1");
});

test(
  "lines are a list, an empty answer is null, and a long stream of events is cut with a note [S5]",
  { tags: "rest" },
  async () => {
    const { runtime } = await openKinds();
    expect(await runtime.run("device.KindsAPI.lines()")).toMatchObject({ value: [{ a: 1 }, { a: 2 }] });
    expect(await runtime.run("device.KindsAPI.gone()")).toMatchObject({ value: null });
    expect(await runtime.run("(await device.KindsAPI.events())[0].data")).toMatchObject({
      value: "tick",
      notes: [expect.stringMatching(/^The result of GET \/events is the beginning of a stream, cut after \d+ bytes/)],
    });
  },
);

test("a recorded run repeats its pages without a request [S10]", { tags: "rest" }, async () => {
  const { runtime, urls } = await openKinds();
  const first = await runtime.run("device.KindsAPI.numbers.pages()");
  expect(first).toMatchObject({ kind: "completed", value: [1, 2] });
  const before = urls.length;
  expect(await runtime.runs.replay(first.runId)).toMatchObject({ kind: "completed", value: [1, 2] });
  expect(urls).toHaveLength(before);
});
