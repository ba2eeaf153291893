import { createServer } from "node:http";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { toServerConfig } from "../../../../src/config/index.ts";
import { createRequestValues } from "../../../../src/model/requests/request-values.ts";
import type { McpProvider } from "../../../../src/providers/mcp/index.ts";
import { type Reflected, reflectingServer } from "../../../support/mcp/http-servers.ts";
import { call, connected, createContext, ended, fixture, ROOT, temporaryFolder } from "../../../support/mcp/servers.ts";

const SECRET = "Bearer eA7-upstream-token";

const withHeaders = (headers: Readonly<Record<string, string>>) => ({
  requestValues: createRequestValues(new Headers(headers)),
});
const withProject = (project: string) => withHeaders({ "x-skillgate-session-project": project });

function see(provider: McpProvider, headers: Readonly<Record<string, string>>): Promise<Reflected> {
  return provider.call("crm", "seen", {}, createContext(withHeaders(headers))) as Promise<Reflected>;
}

async function connectTo(entry: Readonly<Record<string, unknown>>, options = {}): Promise<McpProvider> {
  const provider = await connected([toServerConfig("crm", entry, { cwd: ROOT })], options);
  const context = withHeaders({ authorization: SECRET, "x-tenant": "acme", "x-skillgate-session-project": "first" });
  await provider.listWith(createContext(context));
  return provider;
}

test("forwards the headers that the entry names, and no others [M1]", async () => {
  const { url } = await reflectingServer();
  const provider = await connectTo({ url, passHeaders: ["X-Tenant"] });
  const { headers } = await see(provider, {
    "x-tenant": "acme-1",
    cookie: "id=1",
    authorization: SECRET,
    "x-other": "1",
  });
  expect(headers["x-tenant"]).toBe("acme-1");
  expect(Object.keys(headers).filter((name) => /cookie|authorization|other/.test(name))).toEqual([]);
});

test("calls no server without a header that it needs, or outside of a request [M1]", async () => {
  const { url, requests } = await reflectingServer();
  const provider = await connectTo({ url, passHeaders: ["authorization", "x-tenant"] });
  const before = requests.length;
  await expect(see(provider, { "x-tenant": "acme" })).rejects.toMatchObject({
    code: "SESSION_VALUE_MISSING",
    message:
      'Cannot call a server without what it takes from the request of the caller: "crm" needs the header authorization, and the request does not have it (SESSION_VALUE_MISSING)',
  });
  await expect(provider.call("crm", "seen", {}, createContext())).rejects.toMatchObject({
    code: "SESSION_VALUE_MISSING",
  });
  expect(requests.length).toBe(before);
});

test("gives each caller only its own headers, also when calls overlap [M1]", async () => {
  const { url } = await reflectingServer();
  const provider = await connectTo({ url, passHeaders: ["x-tenant"] });
  const tenants = ["ada", "bob", "ada", "eve", "bob"];
  const seen = await Promise.all(tenants.map((tenant) => see(provider, { "x-tenant": tenant })));
  expect(seen.map(({ headers }) => headers["x-tenant"])).toEqual(tenants);
});

test("masks a header that is forwarded, in results, errors and logs [P9]", async () => {
  const { url } = await reflectingServer();
  const lines: string[] = [];
  const log = (...line: readonly unknown[]): void => void lines.push(JSON.stringify(line));
  const provider = await connectTo({ url, passHeaders: ["authorization"] }, { log });
  const { headers } = await see(provider, { authorization: SECRET });
  expect(headers["authorization"]).toBe("[redacted]");
  const failure = await provider
    .call("crm", "leak", {}, createContext(withHeaders({ authorization: SECRET })))
    .then(() => undefined)
    .catch((thrown: Error) => JSON.stringify([thrown.message, thrown]) + String(thrown.cause));
  expect(failure).toContain("[redacted]");
  expect(failure).not.toContain("eA7-upstream");
  expect(lines.join("\n")).not.toContain("eA7-upstream");
});

test("lists the tools of a server that needs headers with those of the first caller, and offers them then [M1]", async () => {
  const { url } = await reflectingServer({ requires: "authorization" });
  const provider = await connected([toServerConfig("crm", { url, passHeaders: ["authorization"] }, { cwd: ROOT })]);
  expect(provider.skills).toEqual([]);
  expect(provider.servers[0]).toMatchObject({
    status: "disconnected",
    error: "waits for a request with the header authorization",
  });
  expect(provider.listWith(createContext(withHeaders({ "x-tenant": "acme" })))).toBeUndefined();
  await provider.listWith(createContext(withHeaders({ authorization: SECRET })));
  expect(provider.skills[0]?.methods.map(({ name }) => name)).toContain("seen");
  expect(provider.servers[0]).toMatchObject({ status: "connected" });
});

test("fills the values of a session into the path and the query of a URL, and into headers [M1]", async () => {
  const { url } = await reflectingServer();
  const provider = await connectTo({
    url: `${url}of/\${session.project}/mcp?branch=\${session.branch:-main}`,
    headers: { "x-project": "p-${session.project}" },
  });
  const headers = { "x-skillgate-session-project": "acme+1@x" };
  const seen = await see(provider, headers);
  expect(seen.path).toBe("/of/acme%2B1%40x/mcp?branch=main");
  expect(seen.headers["x-project"]).toBe("p-acme+1@x");
  expect((await see(provider, { ...headers, "x-skillgate-session-branch": "dev" })).path).toContain("branch=dev");
});

test.each([
  "..",
  ".",
  "../admin",
  "a/../b",
  "a..b",
  "a/b",
  "a\\b",
  "a%2Fb",
  "a?b",
  "a#b",
  "@evil.example",
  "//evil.example",
  "a b",
  "-rf",
  "--flag",
  "$(id)",
  "`id`",
  "a;b",
  "a\tb",
  "é",
  "a, b",
  "x".repeat(129),
  "",
])("refuses the session value %j before anything is sent, without repeating it [P9]", async (value) => {
  const { url, requests } = await reflectingServer();
  const provider = await connectTo({ url: `${url}of/\${session.project}/mcp` });
  const before = requests.length;
  const failure = await provider
    .call("crm", "seen", {}, createContext(withProject(value)))
    .catch((thrown: Error) => thrown);
  expect(failure).toMatchObject({ code: expect.stringMatching(/^SESSION_VALUE_(?:INVALID|MISSING)$/) });
  if (value.length > 3)
    expect(JSON.stringify([String(failure), failure])).not.toContain(JSON.stringify(value).slice(1, -1));
  expect(requests.length).toBe(before);
});

test("starts one process for each value of a session, and gives it args, env and cwd [M1]", async () => {
  const folder = await temporaryFolder();
  await Promise.all(["acme", "beta"].map((name) => mkdir(join(folder, name))));
  const entry = { env: { PROJECT: "${session.project}" }, cwd: `${folder}/\${session.project}` };
  const config = fixture([`--project=\${session.project}`], entry);
  const server = {
    ...config,
    args: config.transport === "stdio" ? [join(ROOT, config.args[0] ?? ""), ...config.args.slice(1)] : [],
  };
  const provider = await connected([server as typeof config]);
  expect(provider.servers[0]).toMatchObject({ status: "disconnected" });
  const [ada, bob] = [
    { id: "ada", permissions: ["call:*"] },
    { id: "bob", permissions: ["call:*"] },
  ];
  const ask = (tool: string, project: string, caller = ada) =>
    call(provider, tool, {}, { ...withProject(project), caller });
  expect(await ask("folder", "acme")).toBe(join(folder, "acme"));
  expect(await ask("environment", "beta")).toMatchObject({ PROJECT: "beta" });
  const [first, second, other] = [await ask("pid", "acme"), await ask("pid", "acme", bob), await ask("pid", "beta")];
  expect(first).toBe(second);
  expect(other).not.toBe(first);
  await provider.close();
  await Promise.all([first, other].map((pid) => ended(Number(pid))));
});

test(
  "has at most 16 processes for values, and ends the one that is idle for longest [M1]",
  { tags: "rest" },
  async () => {
    const provider = await connected([fixture([], { env: { PROJECT: "${session.project}" } })]);
    const pids: number[] = [];
    for (let number = 0; number < 17; number++)
      pids.push(Number(await call(provider, "pid", {}, withProject(`p${number}`))));
    await ended(pids[0] ?? 0);
    expect(await call(provider, "pid", {}, withProject("p16"))).toBe(pids[16]);
    expect(await call(provider, "pid", {}, withProject("p1"))).toBe(pids[1]);
  },
);

test("refuses a seventeenth process while all others are in use [M1]", { tags: "rest" }, async () => {
  const provider = await connected([fixture([], { env: { PROJECT: "${session.project}" } })]);
  const controller = new AbortController();
  await call(provider, "pid", {}, withProject("p0"));
  const busy = Array.from({ length: 16 }, (_, number) =>
    call(provider, "never", {}, { ...withProject(`p${number}`), signal: controller.signal }).catch(() => {}),
  );
  await expect(call(provider, "pid", {}, withProject("p16"))).rejects.toMatchObject({
    message: expect.stringContaining("has 16 connections for callers, all in use"),
  });
  controller.abort(new Error("enough"));
  await Promise.all(busy);
});

test("stores no value of a request: neither in the listing, nor in the folder of the state [P9]", async () => {
  const { url } = await reflectingServer();
  const stateDir = await temporaryFolder();
  const entry = { url: `${url}of/\${session.project}/mcp`, passHeaders: ["x-tenant"] };
  const provider = await connected([toServerConfig("crm", entry, { cwd: ROOT })], { stateDir });
  const headers = { "x-tenant": "tenant-of-ada", "x-skillgate-session-project": "project-of-ada" };
  await provider.listWith(createContext(withHeaders(headers)));
  await see(provider, headers);
  await provider.close();
  const names = await readdir(stateDir, { recursive: true, withFileTypes: true });
  const files = names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  expect(files.length).toBeGreaterThan(0);
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  expect(texts.join("\n") + files.join("\n")).not.toMatch(/tenant-of-ada|project-of-ada/);
});

test("sends no header to another host that a server redirects to [P9]", async () => {
  const { url: other, requests } = await reflectingServer();
  const redirecting = createServer((_request, response) => void response.writeHead(307, { location: other }).end());
  await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
  const address = redirecting.address();
  const port = typeof address === "object" ? address?.port : 0;
  const provider = await connectTo({ url: `http://127.0.0.1:${port}/`, passHeaders: ["authorization"] });
  await expect(see(provider, { authorization: SECRET })).rejects.toMatchObject({ code: "SERVER_GONE" });
  expect(requests).toEqual([]);
  redirecting.close();
});
