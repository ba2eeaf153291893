// @module-tag rest

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { findSqlite } from "../../../src/store/database/sqlite-program.ts";
import { PROGRAM, serveBank, startRuns } from "./bank.ts";
import {
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  useBrowser,
  writeProgram,
} from "./browser.ts";
import { visitPages } from "./visit-pages.ts";

useBrowser();

const ADD = "return await device.TestSkill.add({ a: 1, b: 2 })";

const log = (line: string): string => `await device.BankSkill.log({ line: "${line}" });`;

describe.skipIf(!hasChromium)("the pages of the console in other colours and widths", () => {
  test("are accessible and have pictures in dark colours [O2]", () => visitPages("dark"));

  test.each([360, 3840])("fits into a window of %i pixels [O2]", async (width) => {
    const server = await serveConsole();
    await server.runtime.run(ADD);
    const { page } = await openConsole(server, "#/", { width });
    for (const hash of ["#/", "#/servers", "#/search?q=add", "#/methods"]) {
      await goTo(page, hash);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, hash).toBeLessThanOrEqual(0);
    }
    await goTo(page, "#/");
    await takeScreenshot(page, `overview-${width}`);
  });

  test("fit into a window of 360 pixels [O2]", async () => {
    const server = await serveConsole();
    const { page } = await openConsole(server, "#/", { width: 360 });
    for (const hash of ["#/audit", "#/keys", "#/keys/new", "#/policy?path=TestSkill.add", "#/chat"]) {
      await goTo(page, hash);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), hash).toBeLessThanOrEqual(0);
      await takeScreenshot(page, `${hash.replaceAll(/\W+/g, "-")}-360`);
    }
  });
});

describe.skipIf(!hasChromium)("the page of runs", () => {
  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["dark", 360],
  ] as const)("is accessible in %s colours at %d pixels [O2]", async (theme, width) => {
    const server = await serveBank();
    const { runId } = await server.runtime.run(`${log("a")}\n${log("b")}\nreturn device.BankSkill.fail()`);
    const { page, faults } = await openConsole(server, "#/runs", { theme, width });
    for (const [name, hash] of [
      ["list", "#/runs"],
      ["detail", `#/runs/${runId}`],
    ] as const) {
      await goTo(page, hash);
      await takeScreenshot(page, `runs-${name}-${theme}-${width}`);
      expect(await findViolations(page), name).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    expect(faults).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("the playground", () => {
  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["dark", 360],
  ] as const)("is accessible in %s colours at %d pixels [O2]", async (theme, width) => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground", { theme, width });
    await writeProgram(
      page,
      `const found = await device.BankSkill.find({ name: "Ada" });
for (const line of ["a", "b"]) await device.BankSkill.log({ line });
console.log(found);
return [{ account: found, amount: 40 }, { account: "DE2", amount: 12 }];`,
    );
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("grid", { name: "Result" }).waitFor();
    await page.getByText("valid, 2 calls").waitFor();
    expect(faults).toEqual([]);
    await takeScreenshot(page, `playground-${theme}-${width}`);
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  });
});

describe.skipIf(!hasChromium)("the page of approvals", () => {
  test.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("is accessible in %s colours at %d pixels [O2]", async (theme, width) => {
    const server = await serveBank();
    const { outcomes, ids } = await startRuns(server, [PROGRAM]);
    const { page } = await openConsole(server, `#/approvals/${ids[0]}`, { theme, width });
    await page.getByRole("article").waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await takeScreenshot(page, `approvals-${theme}-${width}`);
    await server.runtime.approvals.answer(ids[0]!, { approve: false });
    await outcomes[0];
  });
});

describe.skipIf(!hasChromium)("the overview while another process holds the store", () => {
  test.each([
    ["light", 1280],
    ["dark", 360],
  ] as const)("says so, and that it works again, in %s colours at %d pixels [O2]", async (theme, width) => {
    const store = mkdtempSync(join(tmpdir(), "skillgate-failing-store-"));
    onTestFinished(() => rmSync(store, { recursive: true, force: true }));
    const server = await serveConsole({ runtime: { store, timeouts: { lockMs: 100 } } });
    const { page } = await openConsole(server, "#/", { theme, width });
    const database = await server.runtime.database();
    const writer = findSqlite()?.connect(join(store, "skillgate.db"));
    writer?.exec("BEGIN IMMEDIATE");
    await expect(database.processes.put({ name: "p", beat: 1 })).rejects.toThrow("Timed out waiting");
    const line = page.getByText(/store/i).filter({ hasText: "Timed out waiting" });
    await line.first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    await takeScreenshot(page, `failing-store-${theme}-${width}`);
    writer?.exec("COMMIT");
    writer?.close();
    await expect.poll(() => line.count()).toBe(0);
  });
});
