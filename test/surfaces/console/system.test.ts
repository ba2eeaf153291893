import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import type {
  LogLine,
  MachineReport,
  SettingRow,
  SettingsReport,
  StoreReport,
} from "../../../src/surfaces/console/messages.ts";
import { createFolder } from "../../approvals/mail.ts";
import {
  type ConsoleServer,
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  useBrowser,
} from "./browser.ts";

useBrowser();

const SETTINGS = `store: { keep: { runDays: 5 } }
limits:
  wallMs: 12345
mcp:
  servers:
    shop: { url: "http://127.0.0.1:9/mcp", headers: { authorization: "Bearer s3cret-value-1234" } }
`;

const SKILL = `export default class ShopSkill {
  /** Buys something. */
  buy() { console.log("<b>sold</b> \u202e"); throw new Error("no money left"); }
}
`;

/** Starts a server whose project has settings and a skill that prints and throws. */
async function serveShop(): Promise<ConsoleServer> {
  const project = createFolder();
  const skillsDir = join(project, "skills");
  mkdirSync(skillsDir);
  writeFileSync(join(skillsDir, "shop.js"), SKILL);
  writeFileSync(join(project, "settings.yaml"), SETTINGS);
  const settings = join(project, "settings.yaml");
  return serveConsole({ settings: { auth: true }, project, runtime: { store: createFolder(), skillsDir, settings } });
}

async function createReader({ url, runtime }: ConsoleServer, permissions: readonly string[]) {
  const { text } = await createKeys(await runtime.database()).create({
    name: `key ${permissions.length}`,
    permissions,
  });
  const headers = { authorization: `Bearer ${text}` };
  return async <Answer>(path: string): Promise<Answer> =>
    (await (await fetch(`${url}/console/api${path}`, { headers })).json()) as Answer;
}

test("names the place that each setting comes from, without secrets [O2, O5]", async () => {
  const read = await createReader(await serveShop(), ["see:*", "admin:Read"]);
  const { file, rows } = await read<SettingsReport>("/settings");
  const find = (name: string): SettingRow | undefined => rows.find((row) => row.name === name);
  expect(file).toBe("settings.yaml");
  expect(find("limits.wallMs")).toMatchObject({ value: 12_345, source: "file", place: "settings.yaml:3" });
  expect(find("store.keep.runDays")).toMatchObject({ value: 5, source: "file", place: "settings.yaml:1" });
  expect(find("limits.cpuMs")).toMatchObject({ source: "default", place: "" });
  expect(find("server.drainSeconds")).toMatchObject({ value: 1, source: "option" });
  expect(find("agent.model")).toMatchObject({ value: null, source: "unset" });
  expect(JSON.stringify(rows)).not.toContain("s3cret-value");
});

test("shows the size of the store, the machines and the log to administrators alone [O2, P1]", async () => {
  const server = await serveShop();
  await server.runtime.run("return device.ShopSkill.buy()");
  const read = await createReader(server, ["see:*", "admin:Read"]);
  expect(await read<StoreReport>("/store")).toMatchObject({
    kind: "sqlite",
    failure: null,
    rows: { runs: 1, keys: 1 },
  });
  expect(await read<MachineReport>("/machines")).toEqual({ devices: [], executors: null });
  const { lines } = await read<{ readonly lines: readonly LogLine[] }>("/log");
  expect(lines.map(({ text }) => text)).toContainEqual(expect.stringContaining("<b>sold</b>"));
  expect(lines.some(({ isThrown }) => isThrown)).toBe(false); // stacks are for the owner
  const readFew = await createReader(server, ["call:ShopSkill.*"]);
  for (const path of ["/settings", "/store", "/machines", "/log"])
    expect(await readFew(path), path).toMatchObject({ status: 403, code: "ADMIN_MISSING" });
});

describe.skipIf(!hasChromium)("the pages of the server", () => {
  test("show settings, store, machines and the log [O2]", { tags: "rest" }, async () => {
    const server = await serveShop();
    const { runId } = await server.runtime.run("return device.ShopSkill.buy()");
    const { page, faults } = await openConsole(server, "#/settings");
    await page.getByPlaceholder("Filter by name or meaning").fill("wallMs");
    await page.getByRole("row", { name: /limits\.wallMs 12345 settings\.yaml:3/ }).waitFor();
    await goTo(page, "#/store");
    await page.getByText("SQLite", { exact: true }).waitFor();
    await page.getByText("skillgate store backup --out").waitFor();
    await goTo(page, "#/machines");
    await page.getByText("This server executes the runs itself").waitFor();
    await goTo(page, "#/log?level=error");
    await page.getByLabel("Stack").getByText("shop.js:3").waitFor();
    await page
      .getByRole("link", { name: `run ${runId.slice(0, 8)}` })
      .first()
      .waitFor();
    await page.getByLabel("Level").selectOption("");
    await page.getByText("<b>sold</b>").waitFor();
    expect(await page.content()).not.toContain("\u202e");
    expect(await findViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
