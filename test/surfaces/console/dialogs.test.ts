// @module-tag rest

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { folder } from "../serving.ts";
import {
  BOTH_COLOURS,
  checkViews,
  findViolations,
  hasChromium,
  openConsole,
  openPage,
  serveConsole,
  takeScreenshot,
  useBrowser,
} from "./browser.ts";

const FIXTURE = resolve("test/fixtures/mcp/server.js");

useBrowser();

/** Expects no violation in both colours. */
async function check(page: Page, name: string): Promise<void> {
  await checkViews(page, BOTH_COLOURS, async (view) => {
    await takeScreenshot(page, `${name}-${view}`);
    expect(await findViolations(page), `${name} ${view}`).toEqual([]);
  });
}

describe.skipIf(!hasChromium)("in light and dark colours, axe finds no violation", () => {
  test("in the drawer of a server, its form, its test and the confirmation [O2]", async () => {
    const project = folder();
    const servers = { fixture: { command: process.execPath, args: [FIXTURE] } };
    writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
    const server = await serveConsole({ project });
    const { page } = await openConsole(server, "#/servers/server/fixture");
    await page.getByText("connected", { exact: true }).last().waitFor();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("log").getByText("connected").waitFor();
    await check(page, "server");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog", { name: "Edit fixture" }).waitFor();
    await page.getByLabel("Entry").fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The entry is not valid JSON").waitFor();
    await check(page, "server-edit");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove fixture?" }).waitFor();
    await check(page, "server-remove");
  });

  test("in the form for a new server and the command palette [O2]", async () => {
    const server = await serveConsole({ project: folder() });
    const { page } = await openConsole(server, "#/servers");
    await page.getByRole("button", { name: "Add server" }).click();
    await page.getByRole("dialog", { name: "Add MCP servers" }).waitFor();
    await check(page, "server-add");
    await page.getByLabel("Block, command or address").fill("TOKEN=a npx -y weather-mcp");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("group", { name: "weather" }).waitFor();
    await check(page, "server-confirm");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("TestSkill.pay");
    await page.getByRole("option", { name: "TestSkill.pay" }).waitFor();
    await check(page, "palette");
  });

  test("in the settings of a skill and their problems [O2, L9]", async () => {
    const server = await serveConsole({ project: folder(), runtime: { skills: [WeatherSkill] } });
    const { page } = await openConsole(server, "#/servers/skill/WeatherSkill");
    await page.getByRole("listitem").getByText("set WEATHER_API_KEY").waitFor();
    await page.getByLabel("days").fill("many");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("alert").waitFor();
    await check(page, "settings");
  });

  test("in the login and its error [O2]", async () => {
    const server = await serveConsole({ settings: { auth: true } });
    const { page } = await openPage(server.url);
    await page.getByRole("button", { name: "Log in" }).waitFor();
    await check(page, "login");
    await page.locator("input").fill("wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    await check(page, "login-error");
  });
});

const WeatherSkill = defineSkill({
  name: "WeatherSkill",
  description: "Reports the weather",
  settings: {
    type: "object",
    properties: {
      unit: { type: "string", enum: ["celsius", "kelvin"], description: "Unit of temperatures" },
      days: { type: "integer", description: "Days of a forecast" },
      apiKey: { type: "string", writeOnly: true, description: "Key of the service" },
    },
    required: ["apiKey"],
  },
  methods: { now: { description: "The weather now", run: () => "sunny" } },
});
