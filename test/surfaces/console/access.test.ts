import { describe, expect, test } from "vitest";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { createKeys } from "../../../src/keys/index.ts";
import { createConsoleEndpoints } from "../../../src/surfaces/console/api/index.ts";
import { createSessions } from "../../../src/surfaces/console/security/sessions.ts";
import type { ConsoleServices } from "../../../src/surfaces/console/services.ts";
import { goTo, hasChromium, openConsole, openPage, serveConsole, takeScreenshot, useBrowser } from "./browser.ts";

useBrowser();

/** Every endpoint that requires a login, as the console adds it. */
const ROUTES = listRoutes();

function listRoutes(): readonly { readonly method: string; readonly path: string }[] {
  const services = { runtime: {}, http: {}, sessions: {}, activity: {}, events: {} } as unknown as ConsoleServices;
  return Object.keys(createConsoleEndpoints(services)).map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path: path.replaceAll(/:\w+(?:\{.*\})?/g, "1") };
  });
}

/** Endpoints for callers with a right to administer. */
const ADMIN_PATHS = /^\/(?:apis|audit|chat|keys|log|machines|policy|settings|store)\b/;

const SECRET = "SecretSkill";

/** Starts a server with a skill, a run, a question, a key and a record that do not concern the key of the result. */
async function serveSecrets(): Promise<{ readonly url: string; readonly key: string }> {
  const SecretSkill = defineSkill({
    name: SECRET,
    description: "A skill of others",
    methods: {
      pay: { description: "Pays", approval: "user", run: () => 1 },
      see: { description: "Sees", run: () => 2 },
    },
  });
  const hi = { description: "Hi", run: () => 1 };
  const PublicSkill = defineSkill({ name: "PublicSkill", description: "For all", methods: { hi } });
  const { url, runtime } = await serveConsole({ runtime: { skills: [SecretSkill, PublicSkill] } });
  const database = await runtime.database();
  const keys = createKeys(database);
  const { text } = await keys.create({ name: "few", permissions: ["call:PublicSkill.*"] });
  await keys.create({
    name: `${SECRET}-key`,
    permissions: ["admin:AnswerApprovals", "admin:ManageRuns", "admin:ManageServers"],
  });
  await runtime.run(`return await device.${SECRET}.see()`);
  await runtime.run(`return await device.${SECRET}.pay()`);
  await database.audit.append([{ time: new Date().toISOString(), caller: "owner", method: `${SECRET}.see` }]);
  return { url, key: text };
}

test("no caller ends the logins of one that has fewer [O2, V6]", () => {
  const logins = createSessions();
  const own = logins.open({ kind: "link" }, "owner");
  const others = Array.from({ length: 1_100 }, () => logins.open({ kind: "token", token: "key" }, "key:few"));
  expect(logins.find(own)).toBeDefined();
  expect([logins.find(others[0] ?? ""), logins.find(others.at(-1) ?? "")]).toEqual([undefined, expect.anything()]);
});

describe("every endpoint of the console", () => {
  test("is in the table [O2]", () => {
    expect(ROUTES.length).toBeGreaterThan(20);
    expect(ROUTES).toContainEqual({ method: "POST", path: "/keys/1/revoke" });
  });

  test("asks for a login, and refuses requests of other pages [O2, V6]", { tags: "rest" }, async () => {
    const { url, key } = await serveSecrets();
    const own = { "x-skillgate-console": "1", "content-type": "application/json" };
    const login = { authorization: `Bearer ${key}` };
    for (const { method, path } of ROUTES) {
      const send = async (headers: Record<string, string>): Promise<number> => {
        const init = { method, headers, ...(method !== "GET" && { body: "{}" }) };
        return (await fetch(`${url}/console/api${path}`, init)).status;
      };
      const name = `${method} ${path}`;
      expect(await send(own), name).toBe(401);
      expect(await send({ ...own, ...login, origin: "http://evil.example" }), name).toBe(403);
      expect(await send({ ...own, ...login, "sec-fetch-site": "cross-site" }), name).toBe(403);
      if (method !== "GET") expect(await send(login), name).toBe(403);
    }
  });

  test("shows a key of few rights nothing of others [O2, P1]", async () => {
    const { url, key } = await serveSecrets();
    for (const { method, path } of ROUTES) {
      if (method !== "GET" || path === "/events") continue;
      const response = await fetch(`${url}/console/api${path}`, { headers: { authorization: `Bearer ${key}` } });
      expect(await response.text(), path).not.toContain(SECRET);
      expect(response.headers.get("content-security-policy"), path).toContain("default-src 'none'");
      if (ADMIN_PATHS.test(path)) expect(response.status, path).toBe(403);
    }
  });
});

/** Names and texts as an attacker writes them: HTML, marks that change the direction of text, and a megabyte. */
const HOSTILE =
  '<img src="http://192.0.2.1/x" onerror="document.body.dataset.hostile=1"><script>document.body.dataset.hostile=1</script>\u202eevil';

describe.skipIf(!hasChromium)("all pages", () => {
  test(
    "show hostile texts as text, load nothing from other hosts, and break no policy [O2]",
    { tags: "rest" },
    async () => {
      const HostileSkill = defineSkill({
        name: "HostileSkill",
        description: `${HOSTILE}${"long ".repeat(200_000)}`,
        methods: { run: { description: HOSTILE, run: () => `${HOSTILE}${"x".repeat(1_000_000)}` } },
      });
      const server = await serveConsole({ runtime: { skills: [HostileSkill] } });
      const { audit } = await server.runtime.database();
      const time = new Date().toISOString();
      const method = `HostileSkill.${HOSTILE}`;
      await audit.append([
        { time, caller: HOSTILE, method, decision: "refused", code: "x".repeat(1_000_000), [HOSTILE]: HOSTILE },
      ]);
      await server.runtime.run("return await device.HostileSkill.run()", {
        caller: { id: HOSTILE, permissions: ["call:*"] },
      });
      const { page, faults } = await openConsole(server);
      await page.evaluate(
        "addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective))",
      );
      const links = await page.getByRole("navigation").getByRole("link").all();
      const hashes = await Promise.all(links.map((link) => link.getAttribute("href")));
      expect(hashes.length).toBeGreaterThan(6);
      for (const hash of [
        ...hashes,
        "#/audit/1",
        `#/policy?path=${encodeURIComponent(HOSTILE)}`,
        `#/audit?caller=${encodeURIComponent(HOSTILE)}`,
        `#/keys/${encodeURIComponent(HOSTILE)}`,
      ]) {
        await goTo(page, hash ?? "");
        expect(await page.locator("img, [data-hostile]").count(), hash ?? "").toBe(0);
        expect(await page.content(), hash ?? "").not.toContain("\u202e");
      }
      await goTo(page, "#/audit/1");
      await page.getByRole("dialog").getByText("<script>").first().waitFor();
      await takeScreenshot(page, "audit-hostile-light");
      expect(faults.filter((fault) => !/status of 4/.test(fault))).toEqual([]);
    },
  );

  test("end for a key when it is revoked in another browser [O2, P2]", { tags: "rest" }, async () => {
    const server = await serveConsole();
    const keys = createKeys(await server.runtime.database());
    const { text } = await keys.create({ name: "guest", permissions: ["call:*"] });
    const guest = await openPage(server.url);
    await guest.page.getByLabel("Token or key").fill(text);
    await guest.page.getByRole("button", { name: "Log in" }).click();
    await guest.page.getByText("Live", { exact: true }).waitFor();
    const { page } = await openConsole(server, "#/keys");
    await page.getByRole("row", { name: /guest/ }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await page
      .getByRole("dialog", { name: /Revoke the key/ })
      .getByRole("button", { name: "Revoke" })
      .click();
    await guest.page.getByLabel("Token or key").waitFor();
  });
});
