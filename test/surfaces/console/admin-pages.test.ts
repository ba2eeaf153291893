// @module-tag rest

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import { folder } from "../serving.ts";
import { goTo, hasChromium, openConsole, openPage, serveConsole, takeScreenshot, useBrowser } from "./browser.ts";

useBrowser();

describe.skipIf(!hasChromium)("the page of keys", () => {
  test("creates a key that is shown once and works, rotates it, and revokes it after a question [O2, P2]", async () => {
    const server = await serveConsole();
    const { page, faults } = await openConsole(server, "#/keys");
    await page.getByText("No keys").waitFor();
    await page.getByRole("link", { name: "Create a key" }).click();
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("May call").fill("TestSkill.add, TestSkill.greet");
    await page.getByLabel("Requests a minute").fill("60");
    await page.getByRole("button", { name: "Create" }).click();
    const text = (await page.getByLabel("Key", { exact: true }).textContent()) ?? "";
    await takeScreenshot(page, "issued-key-light");
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    const keys = createKeys(await server.runtime.database());
    expect(await keys.authenticate(text)).toMatchObject({
      permissions: ["call:TestSkill.add", "call:TestSkill.greet"],
      limits: { perMinute: 60 },
    });
    expect(await page.content()).not.toContain(text);

    await page.getByRole("row", { name: /ada/ }).click();
    await page.getByText("60 requests a minute").waitFor();
    await takeScreenshot(page, "key-light");
    await page.getByLabel("The old secret").selectOption({ label: "ends at once" });
    await page.getByRole("button", { name: "Rotate" }).click();
    const second = (await page.getByLabel("Key", { exact: true }).textContent()) ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    expect(await keys.authenticate(text)).toBeUndefined();
    expect(await keys.authenticate(second)).toMatchObject({
      permissions: ["call:TestSkill.add", "call:TestSkill.greet"],
    });

    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await keys.authenticate(second)).toBeDefined();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page
      .getByRole("dialog", { name: /Revoke/ })
      .getByRole("button", { name: "Revoke" })
      .click();
    await page.getByText("Revoked: ada").waitFor();
    expect(await keys.authenticate(second)).toBeUndefined();
    await page.getByLabel("Close").first().click();
    await page.getByRole("row", { name: /ada.*revoked/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test("says what is wrong with a key, and keeps what was typed [O2]", async () => {
    const server = await serveConsole();
    const { page } = await openConsole(server, "#/keys/new");
    await page.getByLabel("Name").fill("ada");
    await page.getByLabel("May call").fill("TestSkill");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("alert").getByText("Write TestSkill.* for all methods of TestSkill").waitFor();
    expect(await page.getByLabel("May call").inputValue()).toBe("TestSkill");
  });

  test("is only read by an administrator that is not the owner, and hidden from others [O2, P2]", async () => {
    const server = await serveConsole();
    const keys = createKeys(await server.runtime.database());
    const admin = await keys.create({
      name: "admin",
      permissions: ["admin:AnswerApprovals", "admin:ManageRuns", "admin:ManageServers", "see:*"],
    });
    const few = await keys.create({ name: "few", permissions: ["call:TestSkill.add"] });
    const { page } = await openPage(server.url);
    await logIn(page, admin.text);
    await goTo(page, "#/keys");
    await page.getByRole("row", { name: /few/ }).waitFor();
    expect(await page.getByRole("link", { name: "Create a key" }).count()).toBe(0);
    const other = await openPage(server.url);
    await logIn(other.page, few.text);
    const names = await other.page.getByRole("navigation").getByRole("link").allTextContents();
    for (const hidden of ["Keys", "Policy", "Audit", "Chat"]) expect(names).not.toContain(hidden);
  });
});

const POLICY = `TestSkill.*:
  sensitivity: high
TestSkill.add:
  decision: ask
wipe:
  decision: deny
TestSkill.greet:
  required_scopes: [people:greet]
`;

describe.skipIf(!hasChromium)("the page of the policy", () => {
  test("shows rows with their lines, explains decisions, and tests a table [O2, P3]", async () => {
    const file = writePolicy(POLICY);
    const server = await serveConsole({ runtime: { policy: file } });
    const keys = createKeys(await server.runtime.database());
    await keys.create({ name: "bob", permissions: ["call:TestSkill.greet"] });
    const { page, faults } = await openConsole(server, "#/policy");
    await page.getByText("line 3", { exact: true }).waitFor();
    await page.getByLabel("Method", { exact: true }).fill("TestSkill.add");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByText('The row "TestSkill.add" applies').waitFor();
    await page.getByText("in policies/tools.yaml, line 3, names the method exactly").waitFor();
    await page.getByLabel("Caller", { exact: true }).fill("bob");
    await page.keyboard.press("Enter");
    await page.getByText(/Refused, because the key bob has no call:TestSkill.add/).waitFor();
    expect(page.url()).toContain("#/policy?path=TestSkill.add&caller=bob");
    await takeScreenshot(page, "policy-explained-light");
    await page.getByLabel("Method", { exact: true }).fill("TestSkill.greet");
    await page.keyboard.press("Enter");
    await page.getByText(/lacks .*people:greet/).waitFor();
    await page.getByLabel("Scopes", { exact: true }).fill("people:greet");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".explanation").first().innerText()).not.toContain("lacks");
    await takeScreenshot(page, "policy-scopes-light");
    await page
      .getByRole("textbox", { name: /Table/ })
      .fill("tests:\n  - { path: TestSkill.add, decision: ask }\n  - { path: TestSkill.greet, decision: deny }");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("1 of 2 decisions as expected").waitFor();
    await page.getByRole("textbox", { name: /Table/ }).fill("tests: 1");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText(/"tests" must be a list/).waitFor();
    await goTo(page, "#/policy?path=TestSkill.ad");
    await page.getByText("did you mean TestSkill.add").waitFor();
    expect(faults.filter((fault) => !/status of 4/.test(fault))).toEqual([]);
  });
});

/** Writes `policies/tools.yaml` into a folder of its own, and returns its path. */
function writePolicy(text: string): string {
  const policies = join(folder(), "policies");
  mkdirSync(policies);
  const file = join(policies, "tools.yaml");
  writeFileSync(file, text);
  return file;
}

async function logIn(page: Page, token: string): Promise<void> {
  await page.getByLabel("Token or key").fill(token);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("Live", { exact: true }).waitFor();
}
