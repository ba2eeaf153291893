// @module-tag rest

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import { createKeys } from "../../../src/keys/index.ts";
import { CLIENT_SECRET, startOAuthProvider, type TestProvider } from "../../support/servers/oauth-provider.ts";
import { hasChromium, openPage, useBrowser } from "../console/browser.ts";
import { folder, post, serve } from "../serving.ts";

const OWN_TOKEN = "the-token-of-the-server";
const PROGRAM = { code: "await device.ShopAPI.getMe()" };

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  paths: {
    "/me": { get: { operationId: "getMe", summary: "Says who asks", responses: { 200: { description: "The user" } } } },
  },
};

useBrowser();

describe.skipIf(!hasChromium)("an account that each caller connects in a browser", () => {
  test("gives two callers their own data with one program, and nothing of its tokens to anyone [P8]", async () => {
    const provider = await startOAuthProvider();
    const gate = await openGate(provider);
    const [ada, bob, eve] = [await gate.createKey("ada"), await gate.createKey("bob"), await gate.createKey("eve")];
    const pages = [await connect(gate.url, ada, "ada"), await connect(gate.url, bob, "bob")];
    const run = async (key: string, program = PROGRAM): Promise<Answer> =>
      (await post(`${gate.url}/tools/run_code`, program, { authorization: `Bearer ${key}` })).json as Answer;
    const answers = await Promise.all([run(ada), run(bob), run(ada)]);
    expect(answers.map(({ data }) => data?.value)).toEqual([{ user: "ada" }, { user: "bob" }, { user: "ada" }]);
    expect(JSON.stringify(await run(eve))).toContain(`${gate.url}/connect/shop`);

    // Revoked while a program of Ada waits for the service.
    const asked = provider.calls.length;
    const release = provider.holdApi();
    const running = run(ada, { code: "await device.ShopAPI.getMe(); await device.ShopAPI.getMe()" });
    await expect.poll(() => provider.calls.length).toBeGreaterThan(asked);
    await gate.revoke("ada");
    expect(JSON.stringify(await running)).toContain("the account shop (ada) was revoked");
    release();
    expect((await run(bob)).data?.value).toEqual({ user: "bob" });

    const tokens = [...new Set(provider.calls), CLIENT_SECRET].filter((token) => token !== "");
    expect(tokens.length).toBeGreaterThanOrEqual(3);
    const shown = [...pages, ...gate.log, JSON.stringify(answers), ...readAll(gate.state)];
    for (const token of tokens) for (const text of shown) expect(text).not.toContain(token);
    // The search finds what is there.
    expect(shown.some((text) => text.includes("getMe"))).toBe(true);
  }, 120_000);
});

interface Answer {
  readonly data?: { readonly value?: unknown };
}

interface Gate {
  readonly url: string;
  readonly state: string;
  readonly log: readonly string[];
  readonly createKey: (name: string) => Promise<string>;
  readonly revoke: (name: string) => Promise<void>;
}

async function openGate({ issuer, apiUrl }: TestProvider): Promise<Gate> {
  const state = folder();
  writeFileSync(join(state, "shop.json"), JSON.stringify(DOCUMENT));
  const log: string[] = [];
  const options = {
    cwd: state,
    store: join(state, "store"),
    env: { HOME: state },
    accounts: {
      shop: {
        type: "oauth",
        issuer,
        clientId: "web",
        clientSecret: CLIENT_SECRET,
        scopes: ["openid", "read", "offline_access"],
        private: true,
      },
    },
    sources: { shop: { openapi: "shop.json", server: apiUrl, account: "shop", private: true } },
    runs: { record: "full" },
    audit: "store",
    log: (_level: string, text: string) => void log.push(text),
  } as const;
  const { url, runtime } = await serve({}, options, (token) => token === OWN_TOKEN);
  await runtime.ready;
  const keys = createKeys(await runtime.database());
  const owners = new Map<string, string>();
  return {
    url,
    state,
    log,
    async createKey(name) {
      const { text } = await keys.create({ name, permissions: ["call:*"] });
      owners.set(name, (await keys.authenticate(text))?.id ?? "");
      return text;
    },
    async revoke(name) {
      await runtime.accounts.revoke({ name: "shop", owner: owners.get(name) });
    },
  };
}

/** Opens the page as a person, enters the key, logs in at the provider, and returns all texts of the pages. */
async function connect(url: string, key: string, user: string): Promise<string> {
  const { page, faults } = await openPage(`${url}/connect/shop`);
  const texts = [await page.content()];
  await page.getByLabel("Your key").fill(key);
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByLabel("User").fill(user);
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText(`The account shop is connected for the key ${user}.`).waitFor();
  texts.push(await page.content());
  // The pages of the provider are on another host, and have no icon.
  expect(faults.filter((fault) => !/^request:|status of 404/.test(fault))).toEqual([]);
  await requireLabels(page);
  return texts.join("\n");
}

async function requireLabels(page: Page): Promise<void> {
  expect(await page.evaluate("document.documentElement.lang")).toBe("en");
  expect(await page.title()).toContain("Skillgate");
}

/** Returns the content of all files, as text. */
function readAll(path: string): readonly string[] {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return files.map((each) => readFileSync(join(each.parentPath, each.name), "latin1"));
}
