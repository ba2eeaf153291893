// @module-tag rest

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { PROGRAM, serveBank, startRuns } from "../bank.ts";
import {
  checkViews,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  useBrowser,
  type View,
} from "../browser.ts";
import { findEmptyBoxes, waitForPaint } from "./empty-boxes.ts";
import { PAGES } from "./pages.ts";

useBrowser();

/** A window and a telephone, in both colours. */
const VIEWS: readonly View[] = [
  ["light", 1440],
  ["dark", 1440],
  ["light", 390],
  ["dark", 390],
];

async function lookAt(
  page: Page,
  pages: readonly (readonly [name: string, hash: string, ...unknown[]])[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [name, hash] of pages) {
    await goTo(page, hash);
    await checkViews(page, VIEWS, async (view) => {
      await waitForPaint(page);
      await takeScreenshot(page, `look-${name}-${view}`);
      problems.push(...(await findEmptyBoxes(page)).map((problem) => `${name} ${view}: ${problem}`));
    });
  }
  return problems;
}

describe.skipIf(!hasChromium)("the pages of the console in a window and on a telephone, in both colours", () => {
  test("have no empty boxes where nothing has happened yet [O2]", async () => {
    const { page } = await openConsole(await serveConsole({ runtime: { skills: [] } }));
    const pages = PAGES.filter(([name]) => !["skill", "method", "refusal"].includes(name));
    expect(
      await lookAt(
        page,
        pages.map(([name, hash]) => [`empty-${name}`, hash]),
      ),
    ).toEqual([]);
  });

  test("have no empty boxes with data [O2]", async () => {
    const server = await serveConsole();
    for (const [a, b] of [
      [1, 2],
      [3, 4],
      [5, 6],
    ])
      await server.runtime.run(`return await device.TestSkill.add({ a: ${a}, b: ${b} })`);
    await server.runtime.run("return device.TestSkill.fail()");
    await server.runtime.run("return device.TestSkill.add({ a: 1 })");
    const { page } = await openConsole(server);
    expect(await lookAt(page, PAGES)).toEqual([]);
  });

  test("have no empty boxes for a run and a question [O2]", async () => {
    const server = await serveBank();
    const { runId } = await server.runtime.run(
      `await device.BankSkill.log({ line: "a" });\nreturn device.BankSkill.fail()`,
    );
    const { outcomes, ids } = await startRuns(server, [PROGRAM]);
    const { page } = await openConsole(server);
    const pages = [
      ["run", `#/runs/${runId}`],
      ["question", `#/approvals/${ids[0]}`],
      ["bank-runs", "#/runs"],
      ["bank-overview", "#/"],
    ] as const;
    expect(await lookAt(page, pages)).toEqual([]);
    await server.runtime.approvals.answer(ids[0]!, { approve: false });
    await outcomes[0];
  });

  test("are seen to be empty where a box holds nothing [O2]", async () => {
    const { page } = await openConsole(await serveConsole());
    await page.evaluate(`const box = document.createElement("div");
      box.className = "probe";
      box.style.blockSize = "120px";
      document.querySelector("main h1").after(box);`);
    const problems = await findEmptyBoxes(page);
    expect(problems.some((problem) => /^div\.probe of \d+ × 120 is empty$/.test(problem))).toBe(true);
    expect(problems.some((problem) => /px are empty above/.test(problem))).toBe(true);
  });
});
