// @module-tag rest

import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { goTo, hasChromium, openConsole, openPage, serveConsole, TOKEN, useBrowser } from "./browser.ts";

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
