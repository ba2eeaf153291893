import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type RuntimeOptions } from "../../src/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { Runtime } from "../../src/runtime.ts";
import { type ApiServer, startApiServer } from "../support/servers/api-server.ts";

const ADA: Caller = { id: "ada", permissions: ["call:*"] };
const TOKEN = "token-of-ada-4f9c2e71";

const startService = (): Promise<ApiServer> =>
  startApiServer(({ headers, method, url, body }, response) => {
    if (url === "/moved") return response.writeHead(302, { location: "/there" }).end();
    if (url === "/away") return response.writeHead(302, { location: "http://127.0.0.1:9/x" }).end();
    response.writeHead(url === "/missing" ? 404 : 200, { "content-type": "application/json", "x-request-id": "r1" });
    return response.end(JSON.stringify({ method, url, body, sent: headers["authorization"] }));
  });

async function open({ origin }: ApiServer, options: RuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime({
    skillsDir: false,
    workers: 1,
    env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4) },
    accounts: { notes: { type: "bearer", for: "caller", servers: [origin], private: true, reveal: ["OpenSkill"] } },
    ...options,
  });
  onTestFinished(() => runtime.close());
  await runtime.ready;
  await runtime.accounts.connect({ name: "notes", owner: "ada" }, [TOKEN]);
  return runtime;
}

const BODY = `
  async get({ url, headers }, context) {
    const response = await context.account("notes").fetch(url, headers && { headers });
    return { status: response.status, ok: response.ok, id: response.headers["x-request-id"], ...(await response.json()) };
  },
  async add({ text }, context) {
    return (await context.account("notes").fetch(ORIGIN + "/add", { method: "POST", body: { text } })).json();
  },
  async other(_input, context) {
    return (await context.account("github").fetch(ORIGIN)).text();
  },
  async read(_input, context) {
    return context.account("notes").credential();
  },
`;

/** A skill in the process of the runtime, and one in a file. */
function createSkills(origin: string): RuntimeOptions {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-skills-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const input = `{ type: "object", properties: { url: { type: "string" }, headers: { type: "object" }, text: { type: "string" } } }`;
  const create = (define: string, name: string): string =>
    `const ORIGIN = ${JSON.stringify(origin)}; const runs = {${BODY}};
     ${define}({ name: "${name}", description: "Notes", accounts: ["notes"], methods: Object.fromEntries(
       Object.entries(runs).map(([name, run]) => [name, { description: name, input: ${input}, run }])) })`;
  const skills = join(folder, "skills");
  mkdirSync(skills);
  const source = (name: string): string =>
    `import { defineSkill } from "skillgate";\n${create("export default defineSkill", name)}`;
  writeFileSync(join(skills, "file.mjs"), source("FileSkill"));
  writeFileSync(join(skills, "open.mjs"), source("OpenSkill"));
  writeFileSync(
    join(skills, "plain.ts"),
    `export const accounts = ["notes"];
     /** Lists notes. */
     export async function list(url: string, context: { account(name: string): { fetch(url: string): Promise<{ json(): Promise<unknown> }> } }): Promise<unknown> {
       return (await context.account("notes").fetch(url)).json();
     }`,
  );
  // oxlint-disable-next-line typescript/no-implied-eval -- the same text is a file
  const CodeSkill = new Function("defineSkill", create("return defineSkill", "CodeSkill"))(defineSkill) as never;
  return { cwd: folder, skillsDir: skills, skills: [CodeSkill] };
}

test("adds the credential to requests of skills, which never see it", async () => {
  const service = await startService();
  const runtime = await open(service, createSkills(service.origin));
  expect(runtime.problems).toEqual([]);
  for (const skill of ["CodeSkill", "FileSkill"]) {
    const call = (method: string, input: object = {}): Promise<unknown> =>
      runtime.call(`${skill}.${method}`, input as never, { caller: ADA });
    const get = (path: string): Promise<unknown> => call("get", { url: `${service.origin}${path}` });
    expect(await get("/a?b=c")).toEqual({
      status: 200,
      ok: true,
      id: "r1",
      method: "GET",
      url: "/a?b=c",
      body: "",
      sent: "[redacted]",
    });
    expect(await get("/missing")).toMatchObject({ status: 404, ok: false });
    expect(await get("/moved")).toMatchObject({ url: "/there" });
    expect(await call("add", { text: "hi" })).toMatchObject({ method: "POST", body: '{"text":"hi"}' });
    await expect(call("get", { url: "http://127.0.0.1:9/" })).rejects.toThrow(
      "http://127.0.0.1:9 does not get the credential of the account notes; the owner adds it: accounts: { notes: { servers: [http://127.0.0.1:9] } }",
    );
    // Its origin is that of the URL in it, and its host is empty, which is this machine.
    await expect(call("get", { url: `blob:${service.origin}/a` })).rejects.toThrow("does not get the credential");
    await expect(call("get", { url: service.origin, headers: { Authorization: "x" } })).rejects.toThrow(
      "the header Authorization is that of the account notes",
    );
    await expect(call("other")).rejects.toThrow(`${skill} uses the account github and does not declare it`);
    await expect(call("read")).rejects.toThrow(`${skill} may not read the credential of the account notes`);
  }
  expect(new Set(service.received.map(({ headers }) => headers["authorization"]))).toEqual(
    new Set([`Bearer ${TOKEN}`]),
  );
});

test("lets a skill that the owner names read the credential, and functions declare accounts by an export", async () => {
  const service = await startService();
  const runtime = await open(service, createSkills(service.origin));
  const listed = await runtime.call("PlainSkill.list", { url: `${service.origin}/x` }, { caller: ADA });
  expect(listed).toMatchObject({ url: "/x", sent: "[redacted]" });
  const text = JSON.stringify(await runtime.call("OpenSkill.read", {}, { caller: ADA }));
  expect(text).toContain("Authorization");
  expect(text).not.toContain(TOKEN);
  expect(runtime.describe("FileSkill.get", { caller: ADA }).notes).toContain("Uses the account notes (ada)");
  await expect(runtime.call("FileSkill.get", {}, { caller: { ...ADA, id: "bob" } })).rejects.toMatchObject({
    code: "ACCOUNT_MISSING",
  });
});
