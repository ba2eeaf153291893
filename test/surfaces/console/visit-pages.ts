import { expect } from "vitest";

import { findViolations, goTo, openConsole, serveConsole, takeScreenshot } from "./browser.ts";

/** Every page, with the heading that it shows. A new page needs one line here. */
const PAGES = [
  ["overview", "#/", "Overview"],
  ["servers", "#/servers", "Skills and servers"],
  ["skill", "#/servers/skill/TestSkill", "Skills and servers"],
  ["search", "#/search?q=add", "Search"],
  ["methods", "#/methods", "Methods"],
  ["method", "#/methods/TestSkill.add", "Methods"],
  ["audit", "#/audit", "Audit"],
  ["keys", "#/keys", "Keys"],
  ["create-key", "#/keys/new", "Keys"],
  ["policy", "#/policy?path=TestSkill.add", "Policy"],
  ["playground", "#/playground", "Playground"],
  ["runs", "#/runs", "Runs"],
  ["refusals", "#/refusals", "Refusals"],
  ["refusal", "#/refusals/ARGUMENTS_INVALID/TestSkill.add", "Refusals"],
  ["approvals", "#/approvals", "Approvals"],
] as const;

/** Opens every page in the colours of a theme: axe finds no violation, and each has a picture. */
export async function visitPages(theme: "dark" | "light"): Promise<void> {
  const server = await serveConsole();
  for (let run = 0; run < 3; run++) await server.runtime.run("return await device.TestSkill.add({ a: 1, b: 2 })");
  await server.runtime.run("return device.TestSkill.fail()");
  await server.runtime.run("return device.TestSkill.add({ a: 1 })");
  const { page, faults } = await openConsole(server, "#/", { theme });
  for (const [name, hash, heading] of PAGES) {
    await goTo(page, hash);
    await page.getByRole("heading", { level: 1, name: heading, includeHidden: true }).waitFor();
    await takeScreenshot(page, `${name}-${theme}`);
    expect(await findViolations(page), name).toEqual([]);
  }
  expect(faults).toEqual([]);
}
