// @module-tag rest

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import { createFolder } from "../../approvals/mail.ts";
import { BankSkill, serveBank } from "./bank.ts";
import {
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  openPage,
  serveConsole,
  takeScreenshot,
  useBrowser,
  writeProgram,
} from "./browser.ts";

useBrowser();

describe.skipIf(!hasChromium)("the playground", () => {
  test("completes methods, names of arguments and values from the declarations [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground");
    await writeProgram(page, "await device.Ba");
    await choose(page, "BankSkill.");
    await page.keyboard.type("lo");
    await choose(page, "log(");
    await page.keyboard.type("{ le");
    await choose(page, "level: ");
    await page.keyboard.type('"wa');
    await choose(page, '"warn"');
    expect(await readEditor(page)).toBe('await device.BankSkill.log({ level: "warn"}');
    expect(faults).toEqual([]);
  });

  test("underlines what the check refuses, shows the plan, and moves to a place [O2]", async () => {
    const { page } = await openConsole(await serveBank(), "#/playground");
    await writeProgram(page, "await device.BankSkill.lag({ line: 'x' })");
    await page.getByText("1 error").waitFor();
    await page.locator(".cm-lintRange-error").first().waitFor();
    await expect.poll(() => page.getByRole("region", { name: "Check" }).innerText()).toContain("BankSkill.log");
    await writeProgram(page, "for (const line of ['a', 'b']) await device.BankSkill.log({ line })");
    await page.getByText("valid, 1 call").waitFor();
    expect(await page.getByRole("region", { name: "Check" }).innerText()).toContain("(in a loop)");
    await page.getByRole("button", { name: "line 1" }).click();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Program");
  });

  test("runs a program with Ctrl-Enter, and shows output, calls and a table [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground");
    await writeProgram(
      page,
      `console.log("<b>bold</b>"); await device.BankSkill.log({ line: "x" }); return [{ name: "<i>a</i>", n: 1 }, { name: "b" }]`,
    );
    await page.keyboard.press("Control+Enter");
    const table = page.getByRole("grid", { name: "Result" });
    await expect.poll(() => table.innerText()).toContain("<i>a</i>");
    await page.getByRole("button", { name: "Tree" }).click();
    await page.getByText('"<i>a</i>"').first().waitFor();
    expect(await page.locator("pre[aria-label=Output]").innerText()).toContain("<b>bold</b>");
    await page.locator(".timeline-call", { hasText: "BankSkill.log" }).getByText("ok", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("shows an output and a result of a megabyte, cut, and stays usable [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground");
    await writeProgram(
      page,
      `const text = "<b>".repeat(400_000); console.log(text); return { text, list: [text.slice(9)] }`,
    );
    await page.keyboard.press("Control+Enter");
    const result = page.getByRole("region", { name: "Run" });
    await expect.poll(() => result.innerText()).toContain('{"text":"<b><b>');
    expect(await page.locator("main b").count()).toBe(0);
    await writeProgram(page, "return 1 + 1");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => result.innerText()).toMatch(/completed\s+2\b/);
    expect(faults).toEqual([]);
  });

  test("shows an error with its place in the program [O2]", async () => {
    const { page } = await openConsole(await serveBank(), "#/playground");
    await writeProgram(page, "const list = null; return list.length");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.locator(".card").getByRole("alert").getByText("null").first().waitFor();
    await page.getByRole("button", { name: /^line 1, column \d+$/ }).click();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Program");
  });

  test("gives a program its input, which must be JSON [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground");
    expect(await page.getByLabel(/^Input/).count()).toBe(0);
    await writeProgram(page, "return await device.input()");
    await page.getByLabel(/^Input/).fill("{city: 1}");
    await page.keyboard.press("Tab");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("input must be JSON").first().waitFor();
    await page.getByLabel(/^Input/).fill('{"city":"Rome"}');
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("city:", { exact: true }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(faults).toEqual([expect.stringContaining("400")]);
  });

  test("shows the progress of a call, and stops the run [O2]", async () => {
    const server = await serveBank();
    const ended = new Promise((resolve) => server.runtime.on("run", resolve));
    const { page } = await openConsole(server, "#/playground");
    await writeProgram(page, "await device.BankSkill.wait()");
    await page.keyboard.press("Control+Enter");
    await page.getByText("1 of 4 one of four").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The run was stopped").waitFor();
    expect(await ended).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  });

  test("asks the key that runs a program, in place, where the server does not wait for others [O2, P6]", async () => {
    const server = await serveConsole({
      settings: { auth: true },
      runtime: { store: createFolder(), skills: [BankSkill] },
    });
    const { text } = await createKeys(await server.runtime.database()).create({
      name: "ada",
      permissions: ["call:*"],
    });
    const { page } = await openPage(server.url);
    await page.getByLabel("Token or key").fill(text);
    await page.keyboard.press("Enter");
    await page.getByText("Live", { exact: true }).waitFor();
    await goTo(page, "#/playground");
    await writeProgram(page, `return await device.BankSkill.transfer({ to: "a", amount: 7, note: "" })`);
    await page.keyboard.press("Control+Enter");
    const card = page.getByRole("article", { name: "BankSkill.transfer" });
    expect(await card.innerText()).toContain('"amount": 7');
    await card.getByRole("button", { name: "Approve" }).click();
    await page.getByText("moved:", { exact: true }).waitFor();
    expect(await page.getByRole("article").count()).toBe(0);
  });

  test("shows the type of a method under the pointer, and fades a refusal after an edit [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/playground");
    await writeProgram(page, "await device.BankSkill.lag({ line: 'x' })");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    const refusal = page.getByRole("region", { name: "Run" }).getByRole("alert");
    await refusal.waitFor();
    await writeProgram(page, "await device.BankSkill.log({ line: 'x' })");
    await page.getByText("The program has changed since this run.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.locator(".cm-line", { hasText: "device" }).getByText("log", { exact: false }).first().hover();
    await page.locator(".cm-type").getByText("log(line: string").waitFor();
    await takeScreenshot(page, "playground-type-light");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect.poll(() => page.getByText("The program has changed since this run.").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test("offers examples and earlier programs, and copies a link that carries the program [O2]", async () => {
    const server = await serveBank();
    const { page, context } = await openConsole(server, "#/playground");
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.locator("select[name=example]").selectOption("Two calls at once");
    await expect.poll(() => readEditor(page)).toContain("await Promise.all([");
    await page.getByText("valid, 2 calls").waitFor();
    await writeProgram(page, "return 'first <b>'");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Run" }).getByText("first <b>").waitFor();
    await writeProgram(page, "return 'second'");
    await page.locator("select[name=history]").selectOption({ label: "return 'first <b>'" });
    await expect.poll(() => readEditor(page)).toBe("return 'first <b>'");
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied").waitFor();
    const link = await page.evaluate<string>("navigator.clipboard.readText()");
    await writeProgram(page, "return 'third'");
    await page.goto("about:blank");
    await page.goto(link);
    await page.getByText("Read it before you run it").waitFor();
    await expect.poll(() => readEditor(page)).toBe("return 'first <b>'");
    expect(await page.getByRole("region", { name: "Run" }).getByText("completed").count()).toBe(0);
  });

  test("keeps the text, and loads the program of a run [O2]", async () => {
    const server = await serveBank();
    const { runId } = await server.runtime.run(`await device.BankSkill.log({ line: "old" })`);
    const { page } = await openConsole(server, "#/playground");
    await writeProgram(page, "return 'mine'");
    await page.reload();
    await expect.poll(() => readEditor(page)).toBe("return 'mine'");
    await goTo(page, `#/playground?run=${runId}`);
    await expect.poll(() => readEditor(page)).toContain('line: "old"');
  });
});

async function choose(page: Page, label: string): Promise<void> {
  const option = page.locator(".cm-tooltip-autocomplete li", { hasText: label }).first();
  await option.click();
}

const readEditor = (page: Page): Promise<string> =>
  page
    .locator(".cm-line")
    .allInnerTexts()
    .then((lines) => lines.join("\n").trim());
