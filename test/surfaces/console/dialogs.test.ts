// @module-tag rest

import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { folder } from "../serving.ts";
import {
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

describe.skipIf(!hasChromium).each(["light", "dark"] as const)("in %s colours, axe finds no violation", (theme) => {
  test("in the drawer of a server, its form, its test and the confirmation [O2]", async () => {
    const project = folder();
    const servers = { fixture: { command: process.execPath, args: [FIXTURE] } };
    writeFileSync(join(project, ".mcp.json"), JSON.stringify({ mcpServers: servers }));
    const server = await serveConsole({ project });
    const { page } = await openConsole(server, "#/servers/server/fixture", { theme });
    const check = async (name: string): Promise<void> => {
      await takeScreenshot(page, `${name}-${theme}`);
      expect(await findViolations(page), name).toEqual([]);
    };
    await page.getByText("connected", { exact: true }).last().waitFor();
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("log").getByText("connected").waitFor();
    await check("server");
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByRole("dialog", { name: "Edit fixture" }).waitFor();
    await page.getByLabel("Entry").fill("{");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The entry is not valid JSON").waitFor();
    await check("server-edit");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove fixture?" }).waitFor();
    await check("server-remove");
  });

  test("in the form for a new server and the command palette [O2]", async () => {
    const server = await serveConsole({ project: folder() });
    const { page } = await openConsole(server, "#/servers", { theme });
    await page.getByRole("button", { name: "Add server" }).click();
    await page.getByRole("dialog", { name: "Add an MCP server" }).waitFor();
    await takeScreenshot(page, `server-add-${theme}`);
    expect(await findViolations(page), "server-add").toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("TestSkill.pay");
    await page.getByRole("option", { name: "TestSkill.pay" }).waitFor();
    await takeScreenshot(page, `palette-${theme}`);
    expect(await findViolations(page), "palette").toEqual([]);
  });

  test("in the settings of a skill and their problems [O2, L9]", async () => {
    const server = await serveConsole({ project: folder(), runtime: { skills: [WeatherSkill] } });
    const { page } = await openConsole(server, "#/servers/skill/WeatherSkill", { theme });
    await page.getByRole("listitem").getByText("set WEATHER_API_KEY").waitFor();
    await page.getByLabel("days").fill("many");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("alert").waitFor();
    await takeScreenshot(page, `settings-${theme}`);
    expect(await findViolations(page)).toEqual([]);
  });

  test("in the login and its error [O2]", async () => {
    const server = await serveConsole({ settings: { auth: true } });
    const { page } = await openPage(server.url, { theme });
    await page.getByRole("button", { name: "Log in" }).waitFor();
    expect(await findViolations(page), "login").toEqual([]);
    await page.locator("input").fill("wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").waitFor();
    await takeScreenshot(page, `login-${theme}`);
    expect(await findViolations(page), "login with an error").toEqual([]);
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
