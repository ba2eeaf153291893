import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import {
  goTo,
  hasChromium,
  openConsole,
  openPage,
  serveConsole,
  takeScreenshot,
  TOKEN,
  useBrowser,
} from "./browser.ts";

const ADD = "return await device.TestSkill.add({ a: 1, b: 2 })";

useBrowser();

describe.skipIf(!hasChromium)("the console", () => {
  test("connects again after a restart of the server, and shows each run once [O2]", async () => {
    const first = await serveConsole();
    const port = Number(new URL(first.url).port);
    const { page, faults } = await openPage(first.url);
    await page.getByLabel("Token or key").fill(TOKEN);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await first.runtime.run(ADD);
    await page.getByText("completed").first().waitFor();
    await first.close();
    await page.getByText("Reconnecting").waitFor();
    const second = await serveConsole({ settings: { port } });
    await page.getByLabel("Token or key").waitFor(); // sessions end with the process
    await page.getByLabel("Token or key").fill(TOKEN);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    await second.runtime.run(ADD);
    await page.getByText("completed").first().waitFor();
    await expect.poll(() => page.getByText("completed").count()).toBe(1);
    expect(faults.filter((fault) => !/Failed to load resource|ERR_/.test(fault))).toEqual([]);
  });

  test("shows the same to two browsers at once, and nothing after a logout [O2]", async () => {
    const server = await serveConsole();
    const one = await openConsole(server);
    const two = await openConsole(server);
    await server.runtime.run(ADD);
    for (const { page } of [one, two]) await page.getByText("completed").waitFor();
    await one.page.getByRole("button", { name: "Log out" }).click();
    await one.page.getByLabel("Token or key").waitFor();
    await server.runtime.run(ADD);
    await expect.poll(() => two.page.getByText("completed").count()).toBe(2);
    expect(await one.page.getByText("completed").count()).toBe(0);
  });

  test("shows hostile names and texts as text [O2]", async () => {
    const server = await serveConsole({ runtime: { skills: [HostileSkill] } });
    const { page, faults } = await openConsole(server, "#/methods");
    await page.getByText("<img src=x").first().waitFor();
    expect(await page.locator("img, [data-hostile]").count()).toBe(0);
    expect(await page.content()).not.toContain("\u202e");
    await goTo(page, "#/methods/HostileSkill.long");
    await page.getByRole("button", { name: /show all/ }).waitFor();
    await goTo(page, "#/servers/skill/HostileSkill");
    await goTo(page, "#/search?q=%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    await goTo(page, "#/%E0%A4%A");
    await page.getByText("This page does not exist").waitFor();
    expect(faults).toEqual([]);
  });

  test.each([360, 3840])("fits into a window of %i pixels [O2]", async (width) => {
    const server = await serveConsole();
    await server.runtime.run(ADD);
    const { page } = await openConsole(server, "#/", { width });
    for (const hash of ["#/", "#/servers", "#/search?q=add", "#/methods"]) {
      await goTo(page, hash);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, hash).toBeLessThanOrEqual(0);
    }
    await goTo(page, "#/");
    await takeScreenshot(page, `overview-${width}`);
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

const HOSTILE = '<img src=x onerror="document.body.dataset.hostile=1"><script>alert(1)</script>\u202eevil';

const HostileSkill = defineSkill({
  name: "HostileSkill",
  description: HOSTILE,
  methods: {
    short: { description: HOSTILE, run: () => HOSTILE },
    long: { description: `${HOSTILE}${"long ".repeat(200_000)}`, run: () => HOSTILE },
  },
});
