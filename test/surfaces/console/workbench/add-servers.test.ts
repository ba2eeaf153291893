import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../../src/keys/index.ts";
import type { ClientServer, ReadServer } from "../../../../src/surfaces/console/messages.ts";
import { createFolder } from "../../../approvals/mail.ts";
import { folder } from "../../serving.ts";
import {
  BOTH_COLOURS,
  checkViews,
  type ConsoleServer,
  findViolations,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  TOKEN,
  useBrowser,
} from "../browser.ts";

useBrowser();

const FIXTURE = resolve("test/fixtures/mcp/server.js");

const ENTRY = { command: process.execPath, args: [FIXTURE] };

async function send(server: ConsoleServer, path: string, options: { readonly body?: object; readonly token?: string }) {
  const { body, token = TOKEN } = options;
  const headers = { authorization: `Bearer ${token}`, "x-skillgate-console": "1", "content-type": "application/json" };
  const init = { headers, ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }) };
  const response = await fetch(`${server.url}/console/api${path}`, init);
  return { status: response.status, json: response.status === 204 ? undefined : await response.json() };
}

function serveProject(project: string, home = folder()): Promise<ConsoleServer> {
  return serveConsole({
    project,
    home,
    settings: { auth: true },
    runtime: { store: createFolder(), trust: "recorded" },
  });
}

test("reads a pasted block, and adds nothing before a person has confirmed it [O2, M10]", async () => {
  const project = folder();
  const server = await serveProject(project);
  const text = JSON.stringify({ mcpServers: { a: ENTRY, self: { command: "skillgate", args: ["serve"] }, b: {} } });
  const { json } = (await send(server, "/pasted-servers", { body: { text } })) as { json: { servers: ReadServer[] } };
  expect(json.servers).toMatchObject([
    { name: "a", entry: ENTRY, line: `${process.execPath} ${FIXTURE}`, problem: null },
    { name: "self", problem: expect.stringContaining("Skillgate itself") },
    { name: "b", problem: expect.stringContaining("b") },
  ]);
  expect(server.runtime.servers).toEqual([]);
});

test("refuses a caller without the right to add servers, on the server [O2, M8, P2]", async () => {
  const project = folder();
  const server = await serveProject(project);
  const keys = createKeys(await server.runtime.database());
  const { text: token } = await keys.create({ name: "reader", permissions: ["call:*", "admin:ManageRuns"] });
  const bodies = {
    "/pasted-servers": { text: "npx a" },
    "/servers": { name: "a", entry: ENTRY },
    "/client-servers": { client: "cursor", from: "~/.cursor/mcp.json", name: "a" },
  };
  for (const [path, body] of Object.entries(bodies))
    expect(await send(server, path, { body, token }), path).toMatchObject({
      status: 403,
      json: { code: "ADMIN_MISSING" },
    });
  expect(await send(server, "/client-servers", { token })).toMatchObject({ status: 403 });
  expect(server.runtime.servers).toEqual([]);
});

test(
  "imports the servers of other clients, and approves none of the project [O2, M8, M10]",
  { tags: "rest" },
  async () => {
    const [project, home] = [folder(), folder()];
    mkdirSync(join(home, ".codeium", "windsurf"), { recursive: true });
    writeFileSync(
      join(home, ".codeium", "windsurf", "mcp_config.json"),
      JSON.stringify({ mcpServers: { mine: { ...ENTRY, env: { KEY: "s3cret" } } } }),
    );
    mkdirSync(join(project, ".vscode"));
    writeFileSync(join(project, ".vscode", "mcp.json"), JSON.stringify({ servers: { theirs: ENTRY } }));
    const server = await serveProject(project, home);
    const found = (await send(server, "/client-servers", {})) as { json: { servers: ClientServer[] } };
    expect(JSON.stringify(found.json)).not.toContain("s3cret");
    expect(found.json.servers.map(({ client, name, isHeld }) => [client, name, isHeld])).toEqual([
      ["vscode", "theirs", true],
      ["windsurf", "mine", false],
    ]);
    for (const { client, from, name } of found.json.servers)
      expect(await send(server, "/client-servers", { body: { client, from, name } })).toMatchObject({ status: 201 });
    await expect.poll(() => server.runtime.servers.find(({ name }) => name === "mine")?.status).toBe("connected");
    expect(server.runtime.servers.find(({ name }) => name === "theirs")).toMatchObject({
      error: expect.stringContaining("held"),
    });
    const again = await send(server, "/client-servers", { body: { client: "vscode", from: "no.json", name: "x" } });
    expect(again).toMatchObject({ status: 400, json: { code: "REQUEST_INVALID" } });
  },
);

describe.skipIf(!hasChromium)("the page of servers", { tags: "rest" }, () => {
  test("imports a server, lists errors first, filters, and follows a log [O2, M10]", async () => {
    const project = folder();
    mkdirSync(join(project, ".codeium", "windsurf"), { recursive: true });
    writeFileSync(
      join(project, ".codeium", "windsurf", "mcp_config.json"),
      JSON.stringify({ mcpServers: { mine: ENTRY } }),
    );
    const printing = `process.stderr.write("first line\\n"); setTimeout(() => process.stderr.write("<b>later</b>\\n"), 1500); setInterval(() => {}, 1000)`;
    const servers = Object.fromEntries(
      ["a", "b", "c", "d", "e"].map((name) => [name, { command: process.execPath, args: [FIXTURE] }]),
    );
    const broken = { command: process.execPath, args: ["-e", "process.exit(3)"] };
    const quiet = { command: process.execPath, args: ["-e", printing] };
    writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: { ...servers, zz: broken, quiet } }));
    const server = await serveConsole({ project });
    const { page } = await openConsole(server, "#/servers");
    await expect.poll(() => page.locator(".list-row").first().innerText()).toContain("zz");
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByLabel("Starts or calls, for mine").getByText(FIXTURE).waitFor();
    await checkViews(page, [...BOTH_COLOURS, ["light", 390]], async (view) => {
      await takeScreenshot(page, `import-servers-${view}`);
      expect(await findViolations(page), view).toEqual([]);
    });
    await page.getByRole("button", { name: "Import mine" }).click();
    await page.getByText("imported", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByLabel("Filter servers").fill("mine");
    await expect
      .poll(() => page.getByRole("region", { name: "MCP servers" }).getByRole("link").allInnerTexts())
      .toEqual(["mine"]);
    await page.getByLabel("Filter servers").fill("");
    await page.getByRole("link", { name: "quiet" }).click();
    await page.getByLabel("Log", { exact: true }).getByText("<b>later</b>").waitFor();
    expect(readFileSync(join(project, ".config", "mcp", "mcp.json"), "utf8")).toContain("mine");
  });
});
