// @module-tag rest

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";

import { createFolder } from "../../../approvals/mail.ts";
import { folder } from "../../serving.ts";
import {
  checkViews,
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  useBrowser,
  writeProgram,
} from "../browser.ts";

const FILESYSTEM = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

useBrowser();

let step = 0;

/** Takes pictures for a person to look at, in both colours and widths, and expects no violation. */
async function look(page: Page, name: string): Promise<void> {
  step += 1;
  const views = [
    ["light", 1440],
    ["dark", 390],
  ] as const;
  await checkViews(page, views, async (view) => {
    await takeScreenshot(page, `visit-${step}-${name}-${view}`);
    expect(await findViolations(page), `${name} ${view}`).toEqual([]);
  });
  await page.setViewportSize({ width: 1440, height: 800 });
}

/** Opens a page by its entry in the navigation. */
async function open(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
}

async function connectClient({ url, headers }: { url: string; headers: Record<string, string> }): Promise<Client> {
  const client = new Client({ name: "cursor", version: "1" }, { capabilities: {} });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

describe.skipIf(!hasChromium)("a first visit to the console of a new project", () => {
  test("leads from a pasted server to a method, a refusal, a client and its question [O2, M10, P6]", async () => {
    const project = folder();
    const server = await serveConsole({
      project,
      settings: { auth: true },
      runtime: { store: createFolder(), approvals: { wait: true, destructive: "ask" } },
    });
    const { page, faults } = await openConsole(server, "#/", { width: 1440 });
    await look(page, "overview");

    // Pastes the block of a server's README.
    await open(page, "Skills and servers");
    await page.getByRole("button", { name: "Add server" }).click();
    const block = { mcpServers: { filesystem: { command: process.execPath, args: [FILESYSTEM, project] } } };
    await page.getByLabel("Block, command or address").fill(`\`\`\`json\n${JSON.stringify(block, null, 2)}\n\`\`\``);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByLabel("Starts or calls, for filesystem").getByText(FILESYSTEM).waitFor();
    await look(page, "confirm-server");
    await page.getByRole("button", { name: "Add and start 1 server" }).click();
    await page.getByText("connected", { exact: true }).waitFor();

    // Tries a method by its form.
    await open(page, "Methods");
    await page.getByLabel("Filter").fill("list directory");
    await page.getByText("FilesystemMCP.list_directory", { exact: true }).click();
    await page.getByLabel("path (required)").fill(project);
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByRole("region", { name: "Run" }).getByText(".mcp.json").first().waitFor();
    await look(page, "method");

    // Writes a wrong and a right program.
    await open(page, "Playground");
    const path = JSON.stringify(join(project, ".mcp.json"));
    await writeProgram(page, `return await device.FilesystemMCP.read_text_fil({ path: ${path} });`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("region", { name: "Run" }).getByRole("alert").first().waitFor();
    await look(page, "refused");
    await writeProgram(page, `return await device.FilesystemMCP.read_text_file({ path: ${path} });`);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("region", { name: "Run" }).getByText("completed").waitFor();
    await look(page, "completed");

    // Finds both in Runs, and the wrong one in Refusals.
    await open(page, "Runs");
    await page.getByRole("row", { name: /read_text_fil\(.*refused|refused.*read_text_fil\(/s }).waitFor();
    await page
      .getByRole("row", { name: /read_text_file\(.*completed|completed.*read_text_file\(/s })
      .first()
      .waitFor();
    await look(page, "runs");
    await open(page, "Refusals");
    await page.getByRole("row", { name: /read_text_fil\b/ }).waitFor();
    await look(page, "refusals");

    // Connects a client with a key made for it.
    await open(page, "Connect");
    await page.locator("select[name=client]").selectOption({ label: "Cursor" });
    await page.getByRole("button", { name: "Make a key" }).click();
    await page.getByText("Waiting for Cursor").waitFor();
    await look(page, "connect");
    const entry = JSON.parse((await page.getByLabel("Entry of Cursor").last().textContent()) ?? "");
    const client = await connectClient(entry.mcpServers.skillgate);
    await page.getByText("Cursor is connected").waitFor();

    // Answers the question of the client.
    const target = join(project, "note.txt");
    const code = `return await device.FilesystemMCP.write_file({ path: ${JSON.stringify(target)}, content: "hello" });`;
    const call = client.callTool({ name: "run_code", arguments: { code } });
    await goTo(page, "#/approvals");
    const question = page.getByRole("article", { name: "FilesystemMCP.write_file" });
    await question.waitFor();
    await look(page, "question");
    expect(existsSync(target)).toBe(false);
    await question.getByRole("button", { name: "Approve" }).click();
    await expect.poll(() => existsSync(target) && readFileSync(target, "utf8")).toBe("hello");
    await call;
    await open(page, "Overview");
    await look(page, "overview-after");
    expect(faults).toEqual([]);
  });
});
