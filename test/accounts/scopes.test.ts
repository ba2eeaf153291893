import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../src/runtime.ts";
import { startOAuthProvider } from "../support/servers/oauth-provider.ts";
import { folder } from "../surfaces/serving.ts";

const operation = (id: string, security?: unknown): object => ({
  get: { operationId: id, responses: { 200: { description: "It" } }, ...(security !== undefined && { security }) },
});

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  security: [{ key: [] }, { login: ["read"] }],
  components: {
    securitySchemes: {
      key: { type: "apiKey", in: "header", name: "X-Key" },
      login: { type: "oauth2", flows: {} },
    },
  },
  paths: {
    "/me": operation("getMe"),
    "/admin": operation("getAdmin", [{ login: ["admin", "two words", 7, "read"] }]),
    "/open": operation("getOpen", []),
    "/odd": operation("getOdd", [{ __proto__x: ["x"], constructor: ["y"] }, "text", null]),
    "/secret": operation("getSecret", [{ login: ["secret"] }]),
  },
};

async function askedScopes(scopes: readonly string[] | undefined, more?: readonly string[]): Promise<string | null> {
  const { issuer } = await startOAuthProvider();
  const cwd = folder();
  writeFileSync(join(cwd, "shop.json"), JSON.stringify(DOCUMENT));
  const account = { type: "oauth", issuer, clientId: "cli", private: true } as const;
  const runtime = await createRuntime({
    cwd,
    skillsDir: false,
    store: join(cwd, "store"),
    env: { HOME: cwd },
    accounts: { shop: { ...account, ...(scopes && { scopes }) }, other: { ...account, scopes: ["other"] } },
    sources: {
      shop: {
        openapi: "shop.json",
        server: "https://api.example.com",
        account: { "*": "shop", "/secret": "other" },
        exclude: ["/hidden"],
      },
    },
  });
  onTestFinished(() => runtime.close());
  const login = await runtime.accounts.logIn(
    { name: "shop", ...(more && { scopes: more }) },
    "http://127.0.0.1/callback",
  );
  return login.url.searchParams.get("scope");
}

test(
  "asks for the scopes of the operations that use the account, if the settings name none",
  { tags: "rest" },
  async () => {
    expect(await askedScopes(undefined)).toBe("read admin");
  },
);

test("asks for the scopes of the settings, and for those that are wanted beside them", async () => {
  expect(await askedScopes(["read"])).toBe("read");
  expect(await askedScopes(["read"], ["admin"])).toBe("read admin");
});
