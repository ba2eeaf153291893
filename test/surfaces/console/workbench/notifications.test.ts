// @module-tag rest

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { PROGRAM, serveBank, startRuns } from "../bank.ts";
import { goTo, hasChromium, type OpenPage, openConsole, type ConsoleServer, useBrowser } from "../browser.ts";

useBrowser();

/** Opens the console in a browser whose reader allows notifications, or has blocked them, as Chromium does by default here. */
async function openDecided(server: ConsoleServer, isAllowed: boolean): Promise<OpenPage> {
  const opened = await openConsole(server, "#/approvals");
  await opened.context.grantPermissions(isAllowed ? ["notifications"] : [], { origin: server.url });
  await opened.page.addInitScript(recordNotifications);
  await opened.page.reload();
  await opened.page.getByText("Live", { exact: true }).waitFor();
  return opened;
}

interface ShownNotification extends EventTarget {
  readonly title: string;
  readonly body: string;
}

interface RecordingPage {
  notifications: ShownNotification[];
  isHidden: boolean;
}

/** Keeps the notifications of the page, and lets the test hide it: Chromium without a window shows each page. */
function recordNotifications(): void {
  type Create = new (title: string, options?: object) => ShownNotification;
  const page = globalThis as unknown as RecordingPage & { Notification: Create; document: object };
  page.notifications = [];
  page.isHidden = false;
  page.Notification = class extends page.Notification {
    constructor(title: string, options?: object) {
      super(title, options);
      page.notifications.push(this);
    }
  };
  Object.defineProperty(page.document, "hidden", { get: () => page.isHidden });
}

const hide = (page: Page): Promise<void> =>
  page.evaluate(() => void ((globalThis as unknown as RecordingPage).isHidden = true));

const listNotifications = (page: Page): Promise<readonly (readonly [title: string, body: string])[]> =>
  page.evaluate(() =>
    (globalThis as unknown as RecordingPage).notifications.map(({ title, body }) => [title, body] as const),
  );

describe.skipIf(!hasChromium)("notifications of calls that wait", () => {
  test("come from a hidden page once the reader has switched them on, and open the call [O2, P6]", async () => {
    const server = await serveBank();
    const { page, faults } = await openDecided(server, true);
    const first = await startRuns(server, [PROGRAM]);
    await page.getByText("1 call waits for an answer").waitFor();
    expect(await listNotifications(page)).toEqual([]);
    await page.getByRole("button", { name: "Notify me of new questions" }).click();
    await page.getByRole("button", { name: "Notifications are on", pressed: true }).waitFor();
    await goTo(page, "#/runs");
    await hide(page);
    const second = await startRuns(server, [PROGRAM.replace("40", "50")]);
    const expected = [["Skillgate", "BankSkill.transfer waits for an answer"]];
    await expect.poll(() => listNotifications(page)).toEqual(expected);
    await page.evaluate(() => {
      const [shown] = (globalThis as unknown as RecordingPage).notifications;
      shown?.dispatchEvent(new Event("click"));
    });
    await page.getByRole("article").getByText('"amount": 50').first().waitFor();
    expect(new URL(page.url()).hash).toBe(`#/approvals/${second.ids[0]}`);
    await page.reload();
    await goTo(page, "#/approvals");
    await page.getByRole("button", { name: "Notifications are on", pressed: true }).click();
    await page.getByRole("button", { name: "Notify me of new questions", pressed: false }).waitFor();
    for (const { id } of await server.runtime.approvals.list("pending"))
      await server.runtime.approvals.answer(id, { approve: false });
    await Promise.all([...first.outcomes, ...second.outcomes]);
    expect(faults).toEqual([]);
  });

  test("are never made in a browser that blocks them, which says so [O2, P6]", async () => {
    const server = await serveBank();
    const { page, faults } = await openDecided(server, false);
    await page.getByRole("button", { name: "Notify me of new questions" }).click();
    await page.getByText("The browser blocks notifications of this address. Allow them in its settings").waitFor();
    await page.getByRole("button", { name: "Notify me of new questions", pressed: false }).waitFor();
    await hide(page);
    const { outcomes } = await startRuns(server, [PROGRAM]);
    await expect.poll(() => page.title()).toMatch(/^\(1\)/);
    expect(await listNotifications(page)).toEqual([]);
    for (const { id } of await server.runtime.approvals.list("pending"))
      await server.runtime.approvals.answer(id, { approve: false });
    await Promise.all(outcomes);
    expect(faults).toEqual([]);
  });
});
