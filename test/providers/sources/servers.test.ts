import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";
import type { SourceSettings } from "../../../src/runtime/options.ts";

/** Starts a server that answers with the path of the request. Returns its URL. */
async function startEcho(): Promise<string> {
  const server = createServer(({ url }, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(url)),
  ).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openFiles(
  servers: object,
  settings: Partial<SourceSettings>,
  ofDocument = "https://api.example/v1",
): Promise<Runtime> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-servers-"));
  const own = Object.entries(servers).map(([name, url]) => [
    `/${name}`,
    { get: { operationId: name, ...(url !== undefined && { servers: [{ url }] }), responses: {} } },
  ]);
  const paths = Object.fromEntries(own) as object;
  const document = { openapi: "3.1.0", info: { title: "Files" }, servers: [{ url: ofDocument }], paths };
  writeFileSync(join(folder, "api.json"), JSON.stringify(document));
  const files = { openapi: "./api.json", private: true, ...settings };
  const runtime = await createRuntime({ cwd: folder, skillsDir: false, workers: 1, sources: { files } });
  onTestFinished(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  await runtime.known;
  return runtime;
}

const call = async (runtime: Runtime, name: string): Promise<unknown> => {
  const outcome = await runtime.run(`device.FilesAPI.${name}()`);
  return outcome.kind === "completed" ? outcome.value : outcome.text;
};

test("operations with servers of their own are sent there, if the settings name them [P12]", async () => {
  const [main, uploads] = await Promise.all([startEcho(), startEcho()]);
  const servers = {
    plain: undefined,
    same: `${main}/v2`,
    relative: "/v3",
    documents: "https://api.example/v4",
    main: "https://api.example/v1",
  };
  const runtime = await openFiles(
    { ...servers, listed: `${uploads}/up`, other: "https://evil.example/x", file: "file:///etc/passwd" },
    { server: `${main}/base`, servers: [uploads], headers: { Authorization: "Bearer secret-4711" } },
  );
  const answers = await Promise.all(
    ["plain", "same", "relative", "documents", "main", "listed"].map((name) => call(runtime, name)),
  );
  expect(answers).toEqual(["/base/plain", "/v2/same", "/v3/relative", "/v4/documents", "/base/main", "/up/listed"]);
  expect(await call(runtime, "other")).toContain(
    "GET /other is at https://evil.example/x, which the settings do not name; the owner adds it: sources: { files: { servers: [https://evil.example] } }",
  );
  expect(await call(runtime, "file")).toContain("GET /file is at [path], which is no URL with https://");
  expect(runtime.listApis()[0]?.problems).toEqual([
    expect.stringContaining("1 of its operations cannot be called, because they are at https://evil.example/x"),
    expect.stringContaining("1 of its operations cannot be called, because they are at file:///etc/passwd"),
  ]);
});

test("a server of the settings that is no URL is a problem [O1]", async () => {
  const runtime = await openFiles(
    { plain: undefined },
    { server: "https://api.example", servers: ["uploads.example"] },
  );
  expect(runtime.problems).toEqual([
    expect.objectContaining({
      error: expect.stringContaining(
        'sources.files.servers has "uploads.example", which is not a URL such as https://api.example.com',
      ),
    }),
  ]);
});

test("a server is shown as requests use it, and one of the settings has a path alone [P12]", async () => {
  const runtime = await openFiles({ own: undefined }, {}, "https://evil.example/v1?a=b#.api.example/");
  expect(runtime.listApis()[0]).toMatchObject({
    server: "https://evil.example/v1",
    documentServer: "https://evil.example/v1",
  });
  for (const end of ["?tenant=3", "#v1"]) {
    const { problems } = await openFiles({ own: undefined }, { server: `https://api.example/v1${end}` });
    expect(problems[0]?.error).toContain(
      `sources.files.server has "https://api.example/v1${end}"; requests have its path alone, so write it without ? and #`,
    );
  }
});

test("the server of a file without a scheme is one of https, also for operations that name it [P12]", async () => {
  const main = await startEcho();
  const runtime = await openFiles({ own: "https://api.example/v2" }, {}, "//api.example");
  expect(runtime.listApis()[0]?.server).toBe("https://api.example/");
  const moved = await openFiles({ own: "https://api.example/v2" }, { server: main }, "//api.example");
  expect(await call(moved, "own")).toBe("/v2/own");
});
