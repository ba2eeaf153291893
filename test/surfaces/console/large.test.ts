// @module-tag rest

import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { openDatabase } from "../../../src/store/index.ts";
import { createFolder } from "../../approvals/mail.ts";
import { serveBank } from "./bank.ts";
import { hasChromium, openConsole, serveConsole, useBrowser } from "./browser.ts";

useBrowser();

describe.skipIf(!hasChromium)("a large table", () => {
  test("scrolls through thousands of runs, of which the visible ones are loaded [O2]", async () => {
    const folder = createFolder();
    const now = Date.now(); // older runs are deleted
    const database = await openDatabase({ folder });
    const row = {
      caller: "ada",
      state: "completed",
      updated: now,
      ended: now,
      continues: null,
      calls: 1,
      effects: 1,
    } as const;
    const rest = { ...row, program: "", duration: 1, size: 1, claimedBy: null, attempts: 1 };
    await Promise.all(
      Array.from({ length: 5_000 }, async (_, at) =>
        database.runs.add(
          { ...rest, id: `run-${at}`, title: `program ${at}`, created: now + at },
          { run: `run-${at}`, seq: 0, events: "[]", hash: "" },
        ),
      ),
    );
    await database.close();
    const server = await serveBank({ store: folder });
    const { page } = await openConsole(server, "#/runs");
    await page.getByText("5,000 runs").waitFor();
    await page.getByText("program 4999", { exact: true }).click({ trial: true });
    await page.getByRole("row").nth(1).focus();
    await page.keyboard.press("End");
    await page.getByText("program 0", { exact: true }).waitFor();
    expect(await page.getByRole("row").count()).toBeLessThan(60);
  });

  test("scrolls through a table of 50,000 methods by key, with few elements [O2]", async () => {
    const methods = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, at) => [`method${at}`, { description: `Method ${at}`, run: () => at }]),
    );
    const LargeSkill = defineSkill({ name: "LargeSkill", description: "Has many methods", methods });
    const server = await serveConsole({ runtime: { skills: [LargeSkill] } });
    const { page } = await openConsole(server, "#/methods");
    await page.getByText("50,000 of 50,000 methods").waitFor();
    await page.getByRole("row", { name: "LargeSkill.method0 " }).focus();
    await page.keyboard.press("End");
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-rowindex')")).toBe("50001");
    expect(await page.getByRole("row").count()).toBeLessThan(60);
    await page.keyboard.press("Home");
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-rowindex')")).toBe("2");
  });
});
