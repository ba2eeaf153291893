// @module-tag rest

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import type { RecordedRunDetail } from "../../../src/surfaces/console/program-messages.ts";
import { createFolder, followQuestions } from "../../approvals/mail.ts";
import { BankSkill, serveBank } from "./bank.ts";
import { checkViews, findViolations, goTo, hasChromium, openConsole, serveConsole, useBrowser } from "./browser.ts";

useBrowser();

const log = (line: string): string => `await device.BankSkill.log({ line: "${line}" });`;

describe.skipIf(!hasChromium)("the page of runs", () => {
  test("lists the runs, live, and filters them by text and state [O2]", async () => {
    const server = await serveBank();
    await server.runtime.run(`${log("<b>one</b>")} return 1`);
    const { page, faults } = await openConsole(server, "#/runs");
    await page.getByText("1 run", { exact: true }).waitFor();
    await page.getByText("<b>one</b>").waitFor();
    await server.runtime.run(`${log("two")} return device.BankSkill.fail()`);
    await page.getByText("2 runs", { exact: true }).waitFor();
    await page.getByLabel("State").selectOption("failed");
    await page.getByText("1 run", { exact: true }).waitFor();
    await page.getByLabel("State").selectOption("");
    await page.getByLabel("Program").fill("ONE");
    await expect.poll(() => page.url()).toContain("text=ONE");
    await page.getByText("1 run", { exact: true }).waitFor();
    await page.getByText("<b>one</b>").click();
    await page.getByRole("heading", { name: "Program" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("sorts by a column, and filters by method, duration and time, all in the address [O2]", async () => {
    const server = await serveBank();
    const { runs } = await server.runtime.database();
    const hour = 3_600_000;
    for (const [at, source] of [log("one"), `${log("two")} ${log("two")}`].entries()) {
      const { runId } = await server.runtime.run(source);
      const created = Date.now() - (3 - at) * hour;
      await runs.update(runId, { created, ended: created + 2_000 - at * 1_000, duration: 2_000 - at * 1_000 });
    }
    await server.runtime.run("return 41 + 1");
    const { page, faults } = await openConsole(server, "#/runs");
    const firstRow = page.getByRole("row").nth(1);
    await firstRow.getByText("return 41 + 1").waitFor();
    await page.getByRole("button", { name: "Duration" }).click();
    await firstRow.getByText("2.0 s").waitFor();
    expect(await page.getByRole("columnheader", { name: "Duration" }).getAttribute("aria-sort")).toBe("descending");
    await page.getByRole("button", { name: "Duration" }).click();
    await firstRow.getByText("return 41 + 1").waitFor();
    expect(page.url()).toContain("sort=duration&order=up");
    await page.getByLabel("Method or skill").fill("BankSkill.log");
    await page.getByText("2 runs", { exact: true }).waitFor();
    await firstRow.getByText("1.0 s").waitFor();
    await page.locator("select[name=min]").selectOption("1000");
    await page.locator("select[name=hours]").selectOption("range");
    await page.getByLabel("Before").fill(new Date(Date.now() - 2.5 * hour).toISOString().slice(0, 16));
    await page.getByText("1 run", { exact: true }).waitFor();
    await firstRow.getByText("2.0 s").waitFor();
    const address = page.url();
    await page.reload();
    await page.getByText("1 run", { exact: true }).waitFor();
    expect(page.url()).toBe(address);
    expect(await page.getByLabel("Method or skill").inputValue()).toBe("BankSkill.log");
    expect(await findViolations(page)).toEqual([]);
    await page.getByLabel("Method or skill").fill("BankSkill.find");
    await page.getByRole("link", { name: "Show all runs" }).click();
    await page.getByText("3 runs", { exact: true }).waitFor();
    expect(await page.getByLabel("Method or skill").inputValue()).toBe("");
    expect(faults).toEqual([]);
  });

  test("shows when a run of yesterday began, whole, in windows of 1440 and 390 pixels [O2]", async () => {
    const server = await serveBank();
    const { runId } = await server.runtime.run(log("a line that a narrow window cuts, but not the time of its run"));
    const { runs } = await server.runtime.database();
    const created = Date.now() - 86_400_000;
    await runs.update(runId, { created, ended: created + 3_000, duration: 3_000 });
    const { page } = await openConsole(server, "#/runs");
    const views = [
      ["light", 1440],
      ["light", 390],
    ] as const;
    await checkViews(page, views, async (view) => {
      for (const text of [page.locator("[role=gridcell] time"), page.getByText("3.0 s")]) {
        await text.waitFor();
        expect(
          await text.evaluate((element) => element.scrollWidth <= (element.parentElement?.clientWidth ?? 0)),
          view,
        ).toBe(true);
      }
      const day = new Date(created).toLocaleDateString("en-GB", { day: "numeric", month: "short" });
      expect(await page.locator("[role=gridcell] time").innerText()).toContain(day);
      expect(await findViolations(page), view).toEqual([]);
    });
  });

  test("opens the filtered list from the overview, with runs that are not recorded and refused ones [O2]", async () => {
    const server = await serveBank();
    await server.runtime.run("return 41 + 1");
    await server.runtime.run("return device.BankSkill.lgo()");
    const { page, faults } = await openConsole(server, "#/");
    await page.getByRole("link", { name: "Runs, last hour" }).click();
    await page.getByText("2 runs", { exact: true }).waitFor();
    expect(page.url()).toContain("#/runs?hours=1");
    await goTo(page, "#/");
    await page.getByRole("link", { name: "1 failed or refused" }).click();
    await page.getByText("1 run", { exact: true }).waitFor();
    await goTo(page, "#/");
    const chart = page.locator(".chart svg").first();
    const { width = 0, height = 0 } = (await chart.boundingBox()) ?? {};
    await chart.click({ position: { x: width * (await findPeak(chart)), y: height / 2 } });
    await page.getByText("2 runs", { exact: true }).waitFor();
    expect(page.url()).toMatch(/#\/runs\?since=\d+&until=\d+$/);
    await page.getByText("return 41 + 1").click();
    await page.getByText("The calls and the result of this run are not recorded").waitFor();
    await goTo(page, "#/refusals");
    await page.getByText("BankSkill.lgo").click();
    await page.getByText("Also called lgo.").waitFor();
    await page.getByRole("dialog").getByRole("link", { name: /^run / }).click();
    await page.getByText("return device.BankSkill.lgo()", { exact: true }).first().waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("shows program, calls, record and outcome, replays, and compares [O2, R5]", async () => {
    const server = await serveBank();
    const first = await server.runtime.run(`${log("a")}\n${log("b")}\nreturn { ok: true }`);
    const second = await server.runtime.run(`${log("a")}\n${log("c")}\nreturn { ok: true }`);
    const { page, faults } = await openConsole(server, `#/runs/${first.runId}`);
    await page.locator(".source-call", { hasText: "call 2" }).waitFor();
    await page.locator("summary", { hasText: "of call 2" }).click();
    await page.getByText('[{"line":"b"}]').waitFor();
    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Repeated without providers: the outcome is the same").waitFor();
    await page.getByRole("link", { name: "Compare …" }).click();
    await page.getByText("This is the first recorded run of its program").waitFor();
    await page.getByRole("link", { name: "Show all runs" }).first().click();
    await page.getByRole("row").nth(1).click();
    await page.getByText("Call 2, BankSkill.log: arguments").waitFor();
    expect(page.url()).toContain(`${first.runId}/diff/${second.runId}`);
    await goTo(page, `#/runs/${first.runId}/diff/${first.runId}`);
    await page.getByText("The runs are the same").waitFor();
    expect(faults).toEqual([]);
  });

  test("has a heading, the way back to the list, its neighbours there, and the run before of its program [O2]", async () => {
    const server = await serveBank();
    const programs = [log("a"), log("b"), log("a"), "return device.BankSkill.fail()"];
    const ids: string[] = [];
    for (const program of programs) {
      const { runId } = await server.runtime.run(program);
      ids.push(runId);
      await (await server.runtime.database()).runs.update(runId, { created: 1_000_000 * ids.length });
    }
    const [first, second, third] = ids.map((id) => id.slice(0, 8));
    const { page, faults } = await openConsole(server, "#/runs?state=completed");
    await page.getByRole("row").nth(2).click();
    await page.getByRole("heading", { level: 1, name: `Run ${second}` }).waitFor();
    expect(await page.title()).toContain(`Run ${second}`);
    await page.locator(".program-string", { hasText: '"b"' }).waitFor();
    await page.getByRole("link", { name: "← Previous" }).click();
    await page.getByRole("heading", { level: 1, name: `Run ${third}` }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "← Previous" }).count()).toBe(0);
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Compare …" }).click();
    await page.getByRole("link", { name: "Compare with the previous run of this program" }).click();
    await page.getByRole("heading", { level: 1, name: `Runs ${third} and ${first}` }).waitFor();
    await page.getByText("The runs are the same").waitFor();
    await page.getByRole("link", { name: `← Run ${third}` }).click();
    await page.getByRole("link", { name: "all runs of this program" }).click();
    await page.getByText("2 runs", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Of one program ×" }).click();
    await page.getByText("4 runs", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("shows the stack of a skill's error to the owner, and not to a key [O2, P1]", async () => {
    const project = createFolder();
    const folder = join(project, "skills");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "shop.js"),
      `export default class ShopSkill {
  /** Buys something. */
  buy() { throw new Error("no money left"); }
}
`,
    );
    const server = await serveConsole({
      settings: { auth: true },
      project,
      runtime: { store: createFolder(), skillsDir: folder },
    });
    const { runId } = await server.runtime.run("return device.ShopSkill.buy()");
    const { page } = await openConsole(server, `#/runs/${runId}`);
    await page.getByLabel("Stack").getByText("shop.js:3").waitFor();
    expect(await findViolations(page)).toEqual([]);
    const keys = createKeys(await server.runtime.database());
    const { text } = await keys.create({ name: "reader", permissions: ["see:*", "admin:Read"] });
    const headers = { authorization: `Bearer ${text}` };
    const answer = await fetch(`${server.url}/console/api/runs/${runId}`, { headers });
    const detail = (await answer.json()) as RecordedRunDetail;
    expect(detail.outcome).toMatchObject({ kind: "failed" });
    expect(detail.log).toEqual([]);
  });

  test("continues a failed run in the playground without a second effect [O2, R7]", async () => {
    const server = await serveBank();
    const failed = await server.runtime.run(`${log("once")}\nreturn device.BankSkill.fail()`);
    const calls: string[] = [];
    const { page } = await openConsole(server, `#/runs/${failed.runId}`);
    await page.getByRole("link", { name: "Correct and continue" }).click();
    await page.getByText("The program continues").waitFor();
    await expect.poll(() => page.locator(".cm-content").innerText()).toContain("once");
    server.runtime.on("call", ({ path }) => calls.push(path));
    await page.locator(".cm-content").click();
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(`${log("once")}\nreturn "well"`);
    await page.keyboard.press("Control+Enter");
    await page.locator(".run-view").getByText("well", { exact: true }).waitFor();
    expect(calls).toEqual([]);
  });

  test("shows a run that waits while it waits, and cancels it [O2, R2]", async () => {
    const server = await serveBank();
    const next = followQuestions(server.runtime);
    const outcome = server.runtime.run(
      `${log("x")}\nawait device.BankSkill.transfer({ to: "a", amount: 1, note: "" })`,
    );
    const { runId } = await next();
    const { page } = await openConsole(server, `#/runs/${runId}`);
    await page.getByText("It waits for an approval").waitFor();
    await page.getByText("of waiting for a person").waitFor();
    await expect.poll(() => page.locator(".timeline-track .timeline-wait").count()).toBe(1);
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("cancelled", { exact: true }).waitFor();
    expect(await outcome).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  });

  test("saves a run that worked as a saved skill [O2, R6]", async () => {
    const project = createFolder();
    const folder = join(project, "skills");
    mkdirSync(folder);
    const runtime = { store: createFolder(), skills: [BankSkill], skillsDir: folder };
    const server = await serveConsole({ project, runtime });
    const { runId } = await server.runtime.run(
      `const word = "hello";\nawait device.BankSkill.log({ line: word });\nword`,
    );
    const { page } = await openConsole(server, `#/runs/${runId}`);
    await page.getByRole("button", { name: "Save as a skill …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(/^Name/).fill("../nope");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("name must be one or a few words").waitFor();
    await dialog.getByLabel(/^Name/).fill("note down");
    await dialog.getByLabel("Description").fill("Note a word");
    await dialog.getByLabel("Parameters").fill("wrd");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("SAVE_INVALID").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByLabel("Parameters").fill("word");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved NoteDownSkill.run(word) in skills/note-down.saved.yaml").waitFor();
    await expect.poll(() => server.runtime.catalog.skill("NoteDownSkill")?.methods.length).toBe(1);
    expect(readdirSync(folder).toSorted()).toEqual(["note-down.cassette.json", "note-down.saved.yaml"]);
    expect(readFileSync(join(folder, "note-down.saved.yaml"), "utf8")).toContain("Note a word");
    await page.getByRole("button", { name: "Save as a skill …" }).click();
    await dialog.getByLabel(/^Name/).fill("note down");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("note-down.saved.yaml already exists").waitFor();
  });

  test("says what is wrong with an unknown run [O2]", async () => {
    const { page } = await openConsole(await serveBank(), "#/runs/nope");
    expect(await page.getByRole("alert").innerText()).toContain("Unknown run: nope");
  });
});

/** Returns where the first line of a chart is highest, as a share of its width. */
function findPeak(chart: Locator): Promise<number> {
  return chart.evaluate((svg) => {
    const line = svg.querySelector(".chart-line")?.getAttribute("d") ?? "";
    const points = [...line.matchAll(/([\d.]+) ([\d.]+)/g)].map(([, x, y]) => ({ x: Number(x), y: Number(y) }));
    const peak = points.reduce((highest, point) => (point.y < highest.y ? point : highest));
    return peak.x / (points.length - 1);
  });
}
