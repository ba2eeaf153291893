// @module-tag rest

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { callCode, type ModelServer, sayText, serveReplies } from "../../support/agent.ts";
import { folder, slow, whenSlow } from "../serving.ts";
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
  useBrowser,
} from "./browser.ts";

useBrowser();

const ADD = "return await device.TestSkill.add({ a: 2, b: 3 })";

describe.skipIf(!hasChromium)("the page of the chat", () => {
  test("shows a program with its calls and the answer, in both colours, and the same after a reload [O2, G1]", async () => {
    const answer = "The sum is **5**.\n\n| a | b |\n|---|---|\n| 2 | 3 |";
    await using model = await serveReplies([callCode(ADD), sayText(answer)]);
    const server = await serveWithModel(model);
    const { page, faults } = await openConsole(server, "#/chat");
    await page.getByText("openai:test-model. A message may use").waitFor();
    await say(page, "What is 2 + 3?");
    await page.getByRole("strong").getByText("5").waitFor();
    const program = page.getByRole("article", { name: "Program" });
    await program.getByLabel("Code").getByText("device.TestSkill.add").waitFor();
    await program.getByLabel("Calls").getByText("TestSkill.add").waitFor();
    await page.getByText(/1 turn · 1 call · [\d,]+ tokens?, [\d,]+ of them read, cost [\d.]+ · /).waitFor();
    await checkViews(page, BOTH_COLOURS, async (view) => {
      await takeScreenshot(page, `chat-${view}`);
      expect(await findViolations(page), view).toEqual([]);
    });
    await page.reload();
    await page.getByRole("strong").getByText("5").waitFor();
    expect(await page.getByText("What is 2 + 3?").count()).toBe(1);
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByText("Ask for something", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("asks for an approval in place, and continues with the answer [O2, P4]", async () => {
    await using model = await serveReplies([callCode("return await device.TestSkill.pay()"), sayText("Paid.")]);
    const server = await serveWithModel(model);
    const { page, faults } = await openConsole(server, "#/chat");
    await say(page, "Pay");
    await page.getByRole("article", { name: "TestSkill.pay" }).waitFor();
    await takeScreenshot(page, "chat-approval-light");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("Paid.").waitFor();
    await page.getByText("approved by owner").waitFor();
    expect(faults).toEqual([]);
  });

  test("continues in a second tab of the same login, also after a new conversation [O2, G1]", async () => {
    await using model = await serveReplies([sayText("First."), sayText("Second."), sayText("Third.")]);
    const server = await serveWithModel(model);
    const { page } = await openConsole(server, "#/chat");
    const second = await page.context().newPage();
    await second.goto(page.url());
    await say(page, "One");
    await second.getByText("First.").waitFor();
    await say(second, "Two");
    await page.getByText("Second.").waitFor();
    await page.getByRole("button", { name: "New conversation" }).click();
    await second.getByText("Ask for something", { exact: true }).waitFor();
    await say(page, "Three");
    await second.getByText("Third.").waitFor();
    expect(await second.getByText("First.").count()).toBe(0);
    expect(await second.getByText("Three", { exact: true }).count()).toBe(1);
  });

  test("stops a program, and the conversation continues [O2, G6]", async () => {
    const aborted = whenSlow("aborted");
    await using model = await serveReplies([callCode("return await device.TestSkill.slow()"), sayText("Hello.")]);
    const server = await serveWithModel(model);
    const { page } = await openConsole(server, "#/chat");
    const began = whenSlow("began");
    await say(page, "Be slow");
    await began;
    await page.getByRole("button", { name: "Stop" }).click();
    await aborted;
    await page.getByText(/Stopped\./).waitFor();
    await say(page, "Hello?");
    await page.getByText("Hello.", { exact: true }).waitFor();
    slow.began = () => {};
  });

  test("shows HTML, images and links of a reply as text, and loads nothing [O2]", async () => {
    const hostile = [
      '<img src="http://192.0.2.1/x.png" onerror="document.body.dataset.hostile=1"><script>document.body.dataset.hostile=1</script>',
      "![tracking](http://192.0.2.1/pixel.png)",
      "[bank](javascript:document.body.dataset.hostile=1) [friend](https://evil.example/login)",
      "\u202etxet neddih",
      `${"> ".repeat(40)}deep`,
    ].join("\n\n");
    await using model = await serveReplies([
      sayText(hostile, 4_000),
      sayText("long ".repeat(40_000), 50_000),
      sayText("> ".repeat(9_000), 50_000),
    ]);
    const server = await serveWithModel(model);
    const { page, faults } = await openConsole(server, "#/chat");
    await say(page, "<b>Hi</b>");
    await page.getByRole("link", { name: "friend (https://evil.example/login)" }).waitFor();
    await page.getByText("<script>document.body").waitFor();
    expect(await page.locator("img, script:not([src]), [data-hostile], main b").count()).toBe(0);
    expect(await page.locator("a[href^=javascript]").count()).toBe(0);
    expect(await page.content()).not.toContain("\u202e");
    await say(page, "More");
    await page.getByRole("button", { name: /show all (?:199,999|200,000) characters/ }).waitFor();
    await say(page, "Deeper");
    await page.getByText("> > > > > >").last().waitFor();
    expect(faults).toEqual([]);
  });

  test("says in three lines how to get a model [O2, G2]", async () => {
    const server = await serveConsole({ project: folder() });
    const { page } = await openConsole(server, "#/chat");
    await page.getByText("No model", { exact: true }).waitFor();
    await takeScreenshot(page, "chat-no-model-light");
    expect(await page.getByRole("main").getByRole("listitem").count()).toBe(3);
    await page.getByText(/export ANTHROPIC_API_KEY/).waitFor();
  });

  test("shows an error of the model with its advice [O2, G7]", async () => {
    const server = await serveConsole({
      runtime: {
        settings: writeSettings(
          "agent: { model: 'openai:none', baseUrl: 'http://127.0.0.1:9/v1', budgets: { seconds: 5 } }",
        ),
      },
    });
    const { page } = await openConsole(server, "#/chat");
    await say(page, "Hello");
    await page.locator(".notice-error, .chat-done").first().waitFor();
    await goTo(page, "#/");
    await goTo(page, "#/chat");
    await page.getByText("Hello", { exact: true }).waitFor();
  });
});

async function serveWithModel(model: ModelServer): Promise<ConsoleServer> {
  const settings = writeSettings(
    `agent: { model: "openai:test-model", baseUrl: "${model.url}/v1", price: { input: 3, output: 15 } }`,
  );
  return serveConsole({ runtime: { cwd: dirname(settings), settings } });
}

/** Writes settings.yaml into a folder of its own, and returns its path. */
function writeSettings(text: string): string {
  const file = join(folder(), "settings.yaml");
  writeFileSync(file, text);
  return file;
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("button", { name: "Send" }).waitFor();
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Enter");
}
