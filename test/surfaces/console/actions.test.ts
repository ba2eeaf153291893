// @module-tag rest

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { folder } from "../serving.ts";
import { goTo, hasChromium, openConsole, serveConsole, takeScreenshot, useBrowser } from "./browser.ts";

const FILESYSTEM = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

useBrowser();

describe.skipIf(!hasChromium)("actions in the console", () => {
  test("add, test, edit, disable and remove a server [O2, M10]", async () => {
    const project = folder();
    const server = await serveConsole({ project });
    const { page, faults } = await openConsole(server, "#/servers");
    await page.getByRole("button", { name: "Add server" }).click();
    const entry = { command: process.execPath, args: [FILESYSTEM, project], env: { API_TOKEN: "s3cret-value-1234" } };
    await page.getByLabel("Block, command or address").fill("{");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("alert").waitFor();
    await page
      .getByLabel("Block, command or address")
      .fill(JSON.stringify({ mcpServers: { files: { ...entry, args: [] } } }));
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByLabel("Entry").fill("{");
    await page.getByRole("button", { name: "Add and start 1 server" }).click();
    await page.getByText("The entry is not valid JSON").waitFor();
    await page.getByLabel("Entry").fill(JSON.stringify(entry));
    await page.getByRole("button", { name: "Add and start 1 server" }).click();
    await page.getByLabel("Starts or calls, for files").getByText(FILESYSTEM).waitFor();
    expect(existsSync(join(project, ".mcp.json"))).toBe(false);
    await page.getByRole("button", { name: "Add and start 1 server" }).click();
    await page.getByRole("link", { name: "files" }).click();
    await page.getByText("connected", { exact: true }).last().waitFor();
    await page.getByText("FilesMCP.read_text_file").first().waitFor();
    const written = JSON.parse(readFileSync(join(project, ".mcp.json"), "utf8"));
    expect(written).toEqual({ mcpServers: { files: entry } });
    expect(await page.content()).not.toContain("s3cret-value");

    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByRole("log").getByText("connected").waitFor();
    await takeScreenshot(page, "server-light");

    await page.getByRole("button", { name: "Edit" }).click();
    const text = await page.getByLabel("Entry").inputValue();
    expect(text).toContain("***");
    await page.getByLabel("Entry").fill(text.replace('"command"', '"description": "Reads files", "command"'));
    await page.getByRole("button", { name: "Save" }).click();
    await expect
      .poll(() => JSON.parse(readFileSync(join(project, ".mcp.json"), "utf8")).mcpServers.files)
      .toEqual({ ...entry, description: "Reads files" });

    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByRole("button", { name: "Enable" }).waitFor();
    expect(server.runtime.catalog.skill("FilesMCP")).toBeUndefined();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog", { name: "Remove files?" }).getByRole("button", { name: "Remove" }).click();
    await page.getByText("No MCP servers").waitFor();
    expect(JSON.parse(readFileSync(join(project, ".mcp.json"), "utf8")).mcpServers).toEqual({});
    expect(faults.filter((fault) => !/status of 40[04]/.test(fault))).toEqual([]);
  });

  test("show why a server does not start [O2, M10]", async () => {
    const project = folder();
    const program = "process.stderr.write('no licence found\\n'); process.exit(3)";
    const servers = { broken: { command: process.execPath, args: ["-e", program] } };
    const server = await serveConsole({ project, runtime: { mcpServers: servers } });
    const { page } = await openConsole(server, "#/servers/server/broken");
    await page.getByText("no licence found").first().waitFor();
    await page.getByText("error", { exact: true }).last().waitFor();
  });

  test("change the settings of a skill by its schema, without its secrets [O2, L9]", async () => {
    const project = folder();
    writeFileSync(join(project, ".env"), "# keys\nWEATHER_API_KEY=secret-of-the-weather\n");
    const server = await serveConsole({ project, runtime: { skills: [WeatherSkill] } });
    const { page } = await openConsole(server, "#/servers/skill/WeatherSkill");
    await page.getByLabel("unit").selectOption("kelvin");
    await page.getByLabel("days").fill("many");
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("alert").getByText("Cannot change the settings of WeatherSkill").waitFor();
    expect(existsSync(join(project, "settings.yaml"))).toBe(false);
    await page.getByLabel("days").fill("3");
    await page.getByRole("button", { name: "Save settings" }).click();
    await expect.poll(() => server.runtime.settingsOf("WeatherSkill")?.settings).toEqual({ unit: "kelvin", days: 3 });
    expect(await page.content()).not.toContain("secret-of-the-weather");
    await takeScreenshot(page, "settings-light");
  });

  test("write and remove a secret of a skill, which is never shown again [O2, L9, O5]", async () => {
    const project = folder();
    writeFileSync(join(project, ".env"), "# keys\nWEATHER_API_KEY=secret-of-the-weather # mine\n");
    const server = await serveConsole({ project, runtime: { skills: [WeatherSkill] } });
    const { page } = await openConsole(server, "#/servers/skill/WeatherSkill");
    const answers: string[] = [];
    page.on(
      "response",
      (response) =>
        void response.text().then(
          (text) => answers.push(text),
          () => {},
        ),
    );
    const field = page.getByLabel("apiKey");
    expect([await field.getAttribute("type"), await field.inputValue()]).toEqual(["password", ""]);
    await field.fill("new secret#1");
    await page.getByRole("button", { name: "Save settings" }).click();
    await expect
      .poll(() => readFileSync(join(project, ".env"), "utf8"))
      .toBe("# keys\nWEATHER_API_KEY='new secret#1' # mine\n");
    await expect.poll(() => server.runtime.settingsOf("WeatherSkill")?.secrets).toEqual({ apiKey: "new secret#1" });
    await expect.poll(() => field.inputValue()).toBe("");

    await page.getByRole("button", { name: "Remove apiKey" }).click();
    await page.getByRole("dialog", { name: "Remove apiKey?" }).getByRole("button", { name: "Remove" }).click();
    await page.getByRole("listitem").getByText("set WEATHER_API_KEY").waitFor();
    expect(readFileSync(join(project, ".env"), "utf8")).toBe("# keys\n");
    expect(await field.getAttribute("placeholder")).toBe("not set");
    expect([...answers, await page.content()].join("\n")).not.toMatch(/new secret|secret-of-the-weather/);
  });

  test("search, and open a method from the command palette by keys alone [O2]", async () => {
    const server = await serveConsole();
    const { page } = await openConsole(server, "#/search");
    await page.getByRole("searchbox").fill("add two numbers");
    await page.getByRole("link", { name: "TestSkill.add" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("TestSkill.pay");
    await page.getByRole("option", { name: "TestSkill.pay" }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "TestSkill.pay" }).waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await goTo(page, "#/nowhere");
    await page.getByText("This page does not exist").waitFor();
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
