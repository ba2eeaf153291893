// @module-tag rest

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { findSqlite } from "../../../src/store/database/sqlite-program.ts";
import { findViolations, hasChromium, openConsole, serveConsole, takeScreenshot, useBrowser } from "./browser.ts";

useBrowser();

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
