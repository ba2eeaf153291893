import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import { AUDIT } from "../../../src/store/audit/rows.ts";
import { openEngine } from "../../../src/store/database/open.ts";
import { folder } from "../serving.ts";
import {
  type ConsoleServer,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  useBrowser,
} from "./browser.ts";

useBrowser();

const ADD = "return await device.TestSkill.add({ a: 1, b: 2 })";

describe.skipIf(!hasChromium)("the page of the audit log", () => {
  test("lists records, filters them, shows one, and adds new ones [O2, P8]", { tags: "rest" }, async () => {
    const server = await serveStored();
    await server.runtime.run(ADD);
    await server.runtime.run("return device.TestSkill.fail()");
    const bob = { id: "bob", permissions: ["call:TestSkill.fail", "see:*"] };
    await server.runtime.call("TestSkill.add", { a: 1, b: 2 }, { caller: bob }).catch(() => {});
    const { page, faults } = await openConsole(server, "#/audit");
    await page.getByRole("row", { name: /bob TestSkill.add refused PERMISSION_MISSING/ }).waitFor();
    await takeScreenshot(page, "audit-records-light");
    // Three calls and the head of the table: the record that allows a call is folded into that of its end.
    await expect.poll(() => page.getByRole("row").count()).toBe(4);
    expect(await page.getByText("allowed", { exact: true }).count()).toBe(1);
    await page.getByText(`${await countRecords(server)} records`, { exact: true }).waitFor();
    await server.runtime.run(ADD);
    await expect.poll(() => page.getByRole("row").count()).toBe(5);

    await page.getByLabel("Decision").selectOption("refused");
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Filter" }).click();
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    expect(page.url()).toContain("#/audit?decision=refused");
    await page.getByRole("row", { name: /bob/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("PERMISSION_MISSING").waitFor();
    await takeScreenshot(page, "audit-record-light");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.url()).toMatch(/#\/audit\?decision=refused$/);
    await goTo(page, "#/audit?caller=nobody");
    await page.getByText("No record matches the filter").waitFor();
    await goTo(page, "#/audit/99999");
    await page.getByText(/the audit log has no record 99999/).waitFor();
    expect(faults.filter((fault) => !/status of 404/.test(fault))).toEqual([]);
  });

  test(
    "exports what the filter selects, and names the first record that was changed [O2, P8]",
    { tags: "rest" },
    async () => {
      const store = folder();
      const first = await serveStored(store);
      for (let run = 0; run < 3; run++) await first.runtime.run(ADD);
      await first.close();
      const server = await serveStored(store);
      const { page } = await openConsole(server, "#/audit?method=TestSkill");
      await page.getByRole("button", { name: "Verify" }).click();
      await page.getByText(/All is well: \d+ records/).waitFor();
      const lines = await download(page, "Export JSON lines");
      const rows = await countRecords(server);
      expect(lines).toHaveLength(rows + 1);
      expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({
        trailer: { lines: rows, filter: { method: "TestSkill" } },
      });
      const csv = await download(page, "Export CSV");
      expect(csv[0]).toMatch(/^seq,time,event,runId/);
      expect(csv).toHaveLength(rows + 1);
      await server.close();

      await changeRecord(store, 2);
      const third = await serveStored(store);
      const other = await openConsole(third, "#/audit");
      await other.page.getByRole("button", { name: "Verify" }).click();
      await other.page.getByText("Record 2 was changed").waitFor();
      await takeScreenshot(other.page, "audit-broken-light");
      await other.page.getByRole("link", { name: "Open record 2" }).click();
      await other.page.getByRole("dialog", { name: "Record 2" }).waitFor();
    },
  );

  test("loads older records in parts, with few elements [O2]", { tags: "rest" }, async () => {
    const server = await serveConsole();
    const { audit } = await server.runtime.database();
    const time = new Date().toISOString();
    const record = (at: number) => ({
      time,
      event: "end",
      caller: "owner",
      method: `TestSkill.add${at}`,
      outcome: "ok",
    });
    await audit.append(Array.from({ length: 1_000 }, (_, at) => record(at)));
    const { page } = await openConsole(server, "#/audit");
    await page.getByRole("row", { name: /TestSkill.add999 / }).waitFor();
    await page.getByText("200 records").waitFor();
    await page.getByRole("button", { name: "Older records" }).click();
    await page.getByText("400 records").waitFor();
    expect(await page.getByRole("row").count()).toBeLessThan(60);
    await goTo(page, "#/audit?method=TestSkill.add3");
    await page.getByRole("row", { name: /TestSkill.add3 / }).waitFor();
  });

  test("says how to store records [O2]", { tags: "rest" }, async () => {
    const server = await serveConsole();
    const { page } = await openConsole(server, "#/audit");
    await page.getByText("audit: store").waitFor();
  });
});

test("an administrator sees the records of methods that it may read [O2, P8]", async () => {
  const server = await serveConsole();
  const { audit, ...database } = await server.runtime.database();
  const time = new Date().toISOString();
  await audit.append(["TestSkill.add", "TestSkill.pay"].map((method) => ({ time, method, caller: "owner" })));
  const permissions = ["admin:Read", "see:TestSkill.add"];
  const { text } = await createKeys(database).create({ name: "auditor", permissions });
  const get = async (path: string): Promise<string> => {
    const response = await fetch(`${server.url}/console/api${path}`, { headers: { authorization: `Bearer ${text}` } });
    return response.text();
  };
  for (const path of ["/audit", "/audit/export", "/audit/export?format=csv"]) {
    expect(await get(path)).toContain("TestSkill.add");
    expect(await get(path)).not.toContain("TestSkill.pay");
  }
  expect(JSON.parse(await get("/audit/2"))).toMatchObject({ status: 404 });
});

function serveStored(store = folder()): Promise<ConsoleServer> {
  return serveConsole({ runtime: { store, audit: "store" } });
}

async function countRecords({ runtime }: ConsoleServer): Promise<number> {
  return (await (await runtime.database()).audit.tail(1_000)).length;
}

async function download(
  page: Awaited<ReturnType<typeof openConsole>>["page"],
  name: string,
): Promise<readonly string[]> {
  const event = page.waitForEvent("download");
  await page.getByRole("link", { name }).click();
  const path = await (await event).path();
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

/** Changes a record behind the back of the chain. */
async function changeRecord(store: string, seq: number): Promise<void> {
  const engine = await openEngine({ folder: store }, { lockMs: 1_000, warn: () => {} });
  const [row] = await engine.select(AUDIT, { seq });
  await engine.update(AUDIT, { seq }, { record: (row?.record ?? "").replace('"owner"', '"other"') });
  await engine.close();
}
