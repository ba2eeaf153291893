import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../../src/keys/index.ts";
import type { MethodDetail } from "../../../../src/surfaces/console/messages.ts";
import { createFolder } from "../../../approvals/mail.ts";
import { folder } from "../../serving.ts";
import { BankSkill, serveBank } from "../bank.ts";
import {
  BOTH_COLOURS,
  checkViews,
  type ConsoleServer,
  findViolations,
  goTo,
  hasChromium,
  openConsole,
  serveConsole,
  takeScreenshot,
  TOKEN,
  useBrowser,
} from "../browser.ts";

useBrowser();

async function getMethod(server: ConsoleServer, path: string, token: string): Promise<MethodDetail> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${server.url}/console/api/methods/${path}`, { headers });
  return (await response.json()) as MethodDetail;
}

async function createKey({ runtime }: ConsoleServer, name: string, permissions: readonly string[]): Promise<string> {
  return (await createKeys(await runtime.database()).create({ name, permissions })).text;
}

test("describes a method with its schema, its calls, and the callers that may call it [O2, P3]", async () => {
  const server = await serveConsole({
    settings: { auth: true },
    runtime: { store: createFolder(), skills: [BankSkill] },
  });
  const few = await createKey(server, "few", ["see:BankSkill.*", "call:BankSkill.log"]);
  await server.runtime.run(`await device.BankSkill.log({ line: "x" })`);
  await server.runtime.run(`await device.BankSkill.fail()`);

  const log = await getMethod(server, "BankSkill.log", TOKEN);
  expect(log.input).toMatchObject({ required: ["line"] });
  expect(log.example).toContain("device.BankSkill.log");
  expect(log.access).toBe("device.BankSkill.log");
  expect(Object.keys(log.arguments)).toEqual(["line"]);
  expect(log.statistics).toMatchObject({ total: 1, failed: 0 });
  expect(log.calls).toMatchObject([{ path: "BankSkill.log", outcome: "ok" }]);
  expect(log.callers.map(({ caller, decision }) => [caller, decision])).toEqual([
    ["owner", "allow"],
    ["few", "allow"],
  ]);
  const fail = await getMethod(server, "BankSkill.fail", TOKEN);
  expect(fail.statistics).toMatchObject({ total: 1, failed: 1 });
  expect(fail.callers[1]).toMatchObject({ caller: "few", decision: "deny" });
  expect(fail.callers[1]?.reason).toContain("the key few has no call:BankSkill.fail");

  const seen = await getMethod(server, "BankSkill.fail", few);
  expect(seen.calls).toEqual([]);
  expect(seen.callers.map(({ caller, decision }) => [caller, decision])).toEqual([
    [expect.stringContaining("few"), "deny"],
  ]);
});

test("shows the source of a skill of the project only to those who may change skills [O2, P2]", async () => {
  const project = folder();
  mkdirSync(join(project, "skills"));
  const source = `/** Counts. */\nexport class CountSkill {\n  /** Counts. */\n  one(): number {\n    return 1;\n  }\n}\n`;
  writeFileSync(join(project, "skills", "count.ts"), source);
  const server = await serveConsole({
    project,
    settings: { auth: true },
    runtime: { skillsDir: join(project, "skills"), store: createFolder() },
  });
  await server.runtime.ready;
  const reader = await createKey(server, "reader", ["see:*", "admin:Read"]);
  expect((await getMethod(server, "CountSkill.one", TOKEN)).source).toEqual({ file: "count.ts", text: source });
  expect((await getMethod(server, "CountSkill.one", reader)).source).toBeNull();
});

describe.skipIf(!hasChromium)("the page of a method", () => {
  test("calls the method by its form, and asks as every call does [O2, P6]", { tags: "rest" }, async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/methods/BankSkill.log");
    await page.getByRole("heading", { name: "BankSkill.log" }).waitFor();
    await page.getByLabel("line").fill("<b>x</b>");
    await page.getByLabel("level").selectOption("warn");
    await page.getByRole("button", { name: "Try it" }).click();
    const answer = page.getByRole("region", { name: "Run" });
    await answer.getByText('"<b>x</b>"').waitFor();
    await answer.getByRole("button", { name: "Text" }).click();
    await expect.poll(() => answer.locator("pre").innerText()).toContain('"line": "<b>x</b>"');
    await answer.getByText("{ line: string }").waitFor();
    await page.getByRole("region", { name: "1 call", exact: true }).waitFor();

    await goTo(page, "#/methods/BankSkill.transfer");
    await page.getByLabel("to (required)").fill("DE1");
    await page.getByLabel("amount").fill("12");
    await page.getByRole("button", { name: "Try it" }).click();
    const question = page.getByRole("article", { name: "BankSkill.transfer" });
    await question.getByRole("button", { name: "Approve" }).click();
    await answer.getByText("moved").first().waitFor();
    expect(await page.locator("main b").count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test(
    "is accessible, says what is wrong with an argument, and opens the call in the playground [O2]",
    { tags: "rest" },
    async () => {
      const { page } = await openConsole(await serveBank(), "#/methods/BankSkill.transfer");
      await page.getByLabel("amount").fill("much");
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByRole("alert").getByText("amount must be a number").waitFor();
      await checkViews(page, [...BOTH_COLOURS, ["light", 390], ["dark", 390]], async (view) => {
        await takeScreenshot(page, `method-form-${view}`);
        expect(await findViolations(page), view).toEqual([]);
      });
      await page.getByLabel("amount").fill("12.5");
      await page.getByRole("button", { name: "Open in the playground" }).click();
      await expect.poll(() => page.locator(".cm-content").innerText()).toContain("amount: 12.5");
    },
  );
});
