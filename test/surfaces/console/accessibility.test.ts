// @module-tag rest

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";

import { findSqlite } from "../../../src/store/database/sqlite-program.ts";
import { PROGRAM, serveBank, startRuns } from "./bank.ts";
import {
  BOTH_COLOURS,
  checkViews,
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  useBrowser,
  type View,
  writeProgram,
} from "./browser.ts";
import { PAGES } from "./looks/pages.ts";

useBrowser();

const ADD = "return await device.TestSkill.add({ a: 1, b: 2 })";

const log = (line: string): string => `await device.BankSkill.log({ line: "${line}" });`;

/** The usual window, the same in dark colours, and a telephone. */
const VIEWS: readonly View[] = [...BOTH_COLOURS, ["dark", 360]];

const [LIGHT, , PHONE] = VIEWS as readonly [View, View, View];

const getOverflow = (page: Page): Promise<number> => page.evaluate("document.documentElement.scrollWidth - innerWidth");

describe.skipIf(!hasChromium)("the pages of the console", () => {
  test("are accessible and have pictures in light and dark colours [O2]", async () => {
    const server = await serveConsole();
    for (let run = 0; run < 3; run++) await server.runtime.run(ADD);
    await server.runtime.run("return device.TestSkill.fail()");
    await server.runtime.run("return device.TestSkill.add({ a: 1 })");
    const { page, faults } = await openConsole(server);
    for (const [name, hash, heading] of PAGES) {
      await goTo(page, hash);
      await page.getByRole("heading", { level: 1, name: heading, includeHidden: true }).waitFor();
      await checkViews(page, BOTH_COLOURS, async (view) => {
        await takeScreenshot(page, `${name}-${view}`);
        expect(await findViolations(page), `${name} ${view}`).toEqual([]);
      });
    }
    expect(faults).toEqual([]);
  });

  test("fit into windows of 360 and 3840 pixels [O2]", async () => {
    const server = await serveConsole();
    await server.runtime.run(ADD);
    const { page } = await openConsole(server);
    const narrow = ["#/accounts", "#/audit", "#/keys", "#/keys/new", "#/policy?path=TestSkill.add", "#/chat"];
    for (const hash of ["#/", "#/servers", "#/search?q=add", "#/methods", ...narrow]) {
      await goTo(page, hash);
      const views: readonly View[] = narrow.includes(hash)
        ? [["light", 360]]
        : [
            ["light", 360],
            ["light", 3840],
          ];
      await checkViews(page, views, async (view) => {
        expect(await getOverflow(page), `${hash} ${view}`).toBeLessThanOrEqual(0);
        await takeScreenshot(page, `fit${hash.replaceAll(/\W+/g, "-")}-${view}`);
      });
    }
  });
});

describe.skipIf(!hasChromium)("the page of runs", () => {
  test("is accessible in other colours and widths [O2]", async () => {
    const server = await serveBank();
    const { runId } = await server.runtime.run(`${log("a")}\n${log("b")}\nreturn device.BankSkill.fail()`);
    const { page, faults } = await openConsole(server, "#/runs");
    for (const [name, hash] of [
      ["list", "#/runs"],
      ["detail", `#/runs/${runId}`],
    ] as const) {
      await goTo(page, hash);
      await checkViews(page, VIEWS, async (view) => {
        await takeScreenshot(page, `runs-${name}-${view}`);
        expect(await findViolations(page), `${name} ${view}`).toEqual([]);
        expect(await getOverflow(page)).toBeLessThanOrEqual(0);
      });
    }
    expect(faults).toEqual([]);
  });
});

describe.skipIf(!hasChromium)("the playground", () => {
  test("is accessible in other colours and widths [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground");
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
    await checkViews(page, VIEWS, async (view) => {
      await takeScreenshot(page, `playground-${view}`);
      expect(await findViolations(page), view).toEqual([]);
      expect(await getOverflow(page)).toBeLessThanOrEqual(0);
    });
  });
});

describe.skipIf(!hasChromium)("the page of approvals", () => {
  test("is accessible in other colours and widths [O2]", async () => {
    const server = await serveBank();
    const { outcomes, ids } = await startRuns(server, [PROGRAM]);
    const { page } = await openConsole(server, `#/approvals/${ids[0]}`);
    await page.getByRole("article").waitFor();
    await checkViews(page, [LIGHT, PHONE], async (view) => {
      expect(await findViolations(page), view).toEqual([]);
      expect(await getOverflow(page)).toBeLessThanOrEqual(0);
      await takeScreenshot(page, `approvals-${view}`);
    });
    await server.runtime.approvals.answer(ids[0]!, { approve: false });
    await outcomes[0];
  });
});

describe.skipIf(!hasChromium)("the overview while another process holds the store", () => {
  test("says so, in other colours and widths, and that it works again [O2]", async () => {
    const store = mkdtempSync(join(tmpdir(), "skillgate-failing-store-"));
    onTestFinished(() => rmSync(store, { recursive: true, force: true }));
    const server = await serveConsole({ runtime: { store, timeouts: { lockMs: 100 } } });
    const { page } = await openConsole(server);
    const database = await server.runtime.database();
    const writer = findSqlite()?.connect(join(store, "skillgate.db"));
    writer?.exec("BEGIN IMMEDIATE");
    await expect(database.processes.put({ name: "p", beat: 1 })).rejects.toThrow("Timed out waiting");
    const line = page.getByText(/store/i).filter({ hasText: "Timed out waiting" });
    await line.first().waitFor();
    await checkViews(page, [LIGHT, PHONE], async (view) => {
      expect(await findViolations(page), view).toEqual([]);
      expect(await getOverflow(page)).toBeLessThanOrEqual(0);
      await takeScreenshot(page, `failing-store-${view}`);
    });
    writer?.exec("COMMIT");
    writer?.close();
    await expect.poll(() => line.count()).toBe(0);
  });
});
