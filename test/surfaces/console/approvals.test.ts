import { type Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import { followQuestions } from "../../approvals/mail.ts";
import { findViolations, goTo, hasChromium, openConsole, openPage, takeScreenshot, useBrowser } from "./browser.ts";
import { PROGRAM, serveBank, startRuns } from "./bank.ts";

useBrowser();

describe.skipIf(!hasChromium)("the page of approvals", () => {
  test("shows the call, its program and where its arguments came from, and takes an answer [O2, P6]", async () => {
    const server = await serveBank();
    const { outcomes } = await startRuns(server, [PROGRAM]);
    const { page, faults } = await openConsole(server, "#/approvals");
    const card = page.getByRole("article", { name: "BankSkill.transfer" });
    await expect.poll(() => card.innerText()).toMatch(/"amount": 40/);
    const text = await card.innerText();
    expect(text).toContain("owner asks in run");
    expect(text).toContain("destructive");
    expect(text).toContain(String.raw`DE89 \u202eADA`);
    expect(text).toContain("BankSkill.find");
    expect(text).toMatch(/line 2.*BankSkill\.transfer/s);
    expect(text).toMatch(/Expires in \d+ min/);
    await takeScreenshot(page, "approvals-card");
    await card.getByRole("button", { name: "Approve" }).click();
    expect(await outcomes[0]).toMatchObject({ kind: "completed", value: "done" });
    await page.getByText("No call waits for an answer").waitFor();
    await page.getByText("approved by owner").waitFor();
    expect(faults).toEqual([]);
  });

  test(
    "is answered on the keyboard, and the answer covers what the reader chose [O2, P6]",
    { tags: "rest" },
    async () => {
      const server = await serveBank();
      const transfer = (amount: number): string =>
        `await device.BankSkill.transfer({ to: "DE1", amount: ${amount}, note: "" });`;
      const { outcomes } = await startRuns(server, [`${transfer(1)}\n${transfer(2)}\nreturn 12`, transfer(3)]);
      const { page } = await openConsole(server, "#/approvals");
      await page.getByText("2 calls wait for an answer").waitFor();
      await page.keyboard.press("j");
      await page.keyboard.press("j");
      await expect.poll(() => getActive(page)).toContain('"amount": 3');
      await page.keyboard.press("n");
      expect(await outcomes[1]).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
      await expect.poll(() => getActive(page)).toContain('"amount": 1');
      await page.locator(".approval-active").getByLabel("A yes covers").selectOption("run");
      await page.locator(".approval-active").focus();
      await page.keyboard.press("y");
      expect(await outcomes[0]).toMatchObject({ kind: "completed", value: 12 });
    },
  );

  test("takes no answer on the keyboard before it shows the call [O2, P6]", { tags: "rest" }, async () => {
    const server = await serveBank();
    const { outcomes, ids } = await startRuns(server, [PROGRAM]);
    const { page } = await openConsole(server, "#/");
    await page.route("**/console/api/approvals/*", (route) =>
      route.request().method() === "GET" ? route.fulfill({ status: 500, body: "{}" }) : route.continue(),
    );
    await goTo(page, `#/approvals/${ids[0]}`);
    await page.getByText("1 call waits for an answer").waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await page.keyboard.press("y");
    await page.unroute("**/console/api/approvals/*");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("button", { name: "Deny" }).waitFor();
    expect(await server.runtime.approvals.list("approved")).toEqual([]);
    await page.keyboard.press("n");
    expect(await outcomes[0]).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
  });

  test(
    "counts the questions on every page, announces a new one, and denies several of a caller [O2, P6]",
    { tags: "rest" },
    async () => {
      const server = await serveBank();
      const transfer = (amount: number): string =>
        `await device.BankSkill.transfer({ to: "DE1", amount: ${amount}, note: "" });`;
      const { page, faults } = await openConsole(server, "#/runs");
      const { outcomes } = await startRuns(server, [transfer(1)]);
      await page.getByRole("status").getByText("BankSkill.transfer waits for an answer").waitFor();
      await page.getByRole("link", { name: "Approvals 1 waiting" }).waitFor();
      await expect.poll(() => page.title()).toBe("(1) Runs · Skillgate");
      expect(await page.locator("link[rel=icon]").getAttribute("href")).toMatch(/^data:image\/svg/);
      await page.getByRole("button", { name: "Open" }).click();
      await page.getByRole("article").waitFor();
      const next = followQuestions(server.runtime);
      const own = server.runtime.run(transfer(9), { caller: { id: "ada", permissions: ["call:*"] } });
      await next();
      const more = await startRuns(server, [transfer(2), transfer(3)]);
      await page.getByText("4 calls wait").waitFor();
      await page.getByPlaceholder("Filter by caller").fill("own");
      await page.getByText("3 calls wait").waitFor();
      await page.getByRole("button", { name: "Select all" }).click();
      await page.getByRole("checkbox").first().uncheck();
      expect(await findViolations(page)).toEqual([]);
      await page.getByRole("button", { name: "Deny 2 selected calls" }).click();
      await page.getByText("1 call waits").waitFor();
      for (const outcome of more.outcomes)
        expect(await outcome).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
      await page.reload();
      await expect.poll(() => page.title()).toBe("(2) Approvals · Skillgate");
      for (const { id } of await server.runtime.approvals.list("pending"))
        await server.runtime.approvals.answer(id, { approve: false });
      await expect.poll(() => page.title()).toBe("Approvals · Skillgate");
      expect(await page.locator("link[rel=icon]").getAttribute("href")).toContain("icon.svg");
      await Promise.all([own, ...outcomes]);
      expect(faults).toEqual([]);
    },
  );

  test(
    "shows an answer in every browser, and refuses the second one with its sentence [O2, P6]",
    { tags: "rest" },
    async () => {
      const server = await serveBank();
      const { outcomes, ids } = await startRuns(server, [PROGRAM]);
      const first = await openConsole(server, `#/approvals/${ids[0]}`);
      const second = await openConsole(server, `#/approvals/${ids[0]}`);
      await second.page.getByRole("button", { name: "Deny" }).waitFor();
      await second.page.route("**/console/api/approvals", (route) => route.abort()); // it does not learn of the answer
      await first.page.getByRole("button", { name: "Approve" }).click();
      expect(await outcomes[0]).toMatchObject({ kind: "completed" });
      await first.page.getByText("approved by owner").waitFor();
      await second.page.unroute("**/console/api/approvals");
      const late = await second.page.evaluate(answerAgain, ids[0]!);
      expect(late).toMatchObject({ status: 409, code: "APPROVAL_CLOSED" });
      await goTo(second.page, "#/approvals");
      await second.page.getByText("No call waits for an answer").waitFor();
      const next = await startRuns(server, [PROGRAM]);
      await Promise.all([first, second].map(({ page }) => page.getByRole("article").first().waitFor()));
      await second.page.getByRole("button", { name: "Deny" }).click();
      await first.page.getByText("denied by owner").first().waitFor();
      await next.outcomes[0];
    },
  );

  test(
    "shows a key only the questions of its own calls, without the right to answer them [O2, P2, P6]",
    { tags: "rest" },
    async () => {
      const server = await serveBank({ settings: { auth: true } });
      const keys = createKeys(await server.runtime.database());
      const { text, key } = await keys.create({ name: "robot", permissions: ["call:*"] });
      const next = followQuestions(server.runtime);
      const own = server.runtime.run(PROGRAM, { caller: (await keys.findCaller(key.id))!.caller! });
      await next();
      const { outcomes } = await startRuns(server, [PROGRAM.replace("40", "50")]);
      const { page } = await openPage(server.url);
      await page.getByLabel("Token or key").fill(text);
      await page.keyboard.press("Enter");
      await page.getByText("Live", { exact: true }).waitFor();
      await goTo(page, "#/approvals");
      await expect.poll(() => page.getByRole("article").count()).toBe(1);
      expect(await page.getByRole("article").innerText()).toContain("An administrator can answer this");
      expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
      const [question] = await server.runtime.approvals.list("pending");
      expect(await page.evaluate(answerAgain, question!.id)).toMatchObject({ status: 403, code: "APPROVAL_FORBIDDEN" });
      for (const { id } of await server.runtime.approvals.list("pending"))
        await server.runtime.approvals.answer(id, { approve: false });
      await Promise.all([own, ...outcomes]);
    },
  );
});

const getActive = (page: Page): Promise<string> => page.locator(".approval-active").innerText({ timeout: 1_000 });

/** Sends an answer as the page does. */
async function answerAgain(id: string): Promise<{ readonly status: number; readonly code: string }> {
  const response = await fetch(`/console/api/approvals/${id}`, {
    method: "POST",
    headers: { "x-skillgate-console": "1", "content-type": "application/json" },
    body: JSON.stringify({ answer: "deny" }),
  });
  return { status: response.status, code: ((await response.json()) as { code: string }).code };
}
