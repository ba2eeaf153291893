import { describe, expect, test } from "vitest";

import { createKeys } from "../../../../src/keys/index.ts";
import type { CountedPatterns } from "../../../../src/surfaces/console/messages.ts";
import { createFolder } from "../../../approvals/mail.ts";
import { BankSkill, serveBank } from "../bank.ts";
import {
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

async function match({ url }: ConsoleServer, text: string, { kind = "permission", token = TOKEN } = {}) {
  const headers = { authorization: `Bearer ${token}` };
  const query = new URLSearchParams({ text, kind }).toString();
  const response = await fetch(`${url}/console/api/patterns?${query}`, { headers });
  return (await response.json()) as CountedPatterns;
}

test("says what patterns of permissions and keys of rows match, of what a caller may see [O2, P1]", async () => {
  const server = await serveConsole({
    settings: { auth: true },
    runtime: { store: createFolder(), skills: [BankSkill] },
  });
  expect(await match(server, "BankSkill.*, BankSkill.log Nothing.*")).toEqual({
    methods: 5,
    first: ["BankSkill.find", "BankSkill.transfer", "BankSkill.log", "BankSkill.wait", "BankSkill.fail"],
    unmatched: ["Nothing.*"],
    problem: null,
    text: "Matches 5 methods: BankSkill.find, BankSkill.transfer, BankSkill.log, BankSkill.wait, BankSkill.fail. No method: Nothing.*",
    candidates: [],
  });
  expect((await match(server, "BankSkil.lgo")).text).toBe("Matches no method; did you mean BankSkill.log?");
  expect((await match(server, "BankSkill")).problem).toContain("Write BankSkill.* for all methods of BankSkill");
  expect((await match(server, "BankSkill.log bank")).candidates[0]).toBe("BankSkill.log BankSkill.*");
  expect(await match(server, "log", { kind: "row" })).toMatchObject({ methods: 1, first: ["BankSkill.log"] });
  expect((await match(server, "a b/c", { kind: "row" })).problem).toContain("b/c is not the key of a row");
  const { text: token } = await createKeys(await server.runtime.database()).create({
    name: "few",
    permissions: ["call:BankSkill.log"],
  });
  expect(await match(server, "*", { token })).toMatchObject({ methods: 1, first: ["BankSkill.log"] });
  expect((await match(server, "bank", { token })).candidates).toEqual(["BankSkill.*", "BankSkill.log"]);
});

describe.skipIf(!hasChromium)("the fields for patterns", { tags: "rest" }, () => {
  test("complete a pattern and count its methods before a key or a row has it [O2]", async () => {
    const { page, faults } = await openConsole(await serveBank(), "#/keys/new");
    await page.getByLabel("May call").fill("BankSkill.find bank");
    await page.locator("datalist option[value='BankSkill.find BankSkill.*']").waitFor({ state: "attached" });
    await page.getByLabel("May call").fill("BankSkill.find");
    await page.getByText("Matches 1 method: BankSkill.find").waitFor();
    await page.getByLabel("May call").fill("BankSkill.* Nope.*");
    await page.getByText("No method: Nope.*").waitFor();
    await takeScreenshot(page, "key-patterns-light");
    expect(await findViolations(page)).toEqual([]);
    await goTo(page, "#/policy");
    await page.locator("input[name=key]").fill("BankSkill.l*");
    await page.getByText("Matches 1 method: BankSkill.log").waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
