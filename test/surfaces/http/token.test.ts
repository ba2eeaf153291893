import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";

import { openToken, tokenFile } from "../../../src/surfaces/http/auth/token.ts";
import { folder } from "../serving.ts";

test("creates a token once, and stores only its hash in a private file [V6]", () => {
  const env = { HOME: folder() };
  const first = openToken(env, { renew: false });
  const token = first.created ?? "";
  expect(token).toMatch(/^sgt_[\w-]{43}$/);
  const file = tokenFile(env);
  expect(file).toBe(`${env.HOME}/.config/skillgate/server-token.json`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).not.toContain(token.slice(8));
  const second = openToken(env, { renew: false });
  expect(second.created).toBeUndefined();
  expect([second.isToken(token), second.isToken(`${token}x`), second.isToken("")]).toEqual([true, false, false]);
});

test("replaces the old token with a new one [V6]", () => {
  const env = { HOME: folder() };
  const { created = "" } = openToken(env, { renew: false });
  const renewed = openToken(env, { renew: true });
  expect(renewed.isToken(created)).toBe(false);
  expect(openToken(env, { renew: false }).isToken(renewed.created ?? "")).toBe(true);
});

test("does not store a token from the environment [V6]", () => {
  const env = { HOME: folder(), SKILLGATE_TOKEN: "a-token-of-tests" };
  const token = openToken(env, { renew: false });
  expect([token.isToken("a-token-of-tests"), token.isToken("other"), token.file, token.created]).toEqual([
    true,
    false,
    undefined,
    undefined,
  ]);
});

test("refuses a token from the environment with less than 16 characters [V6]", () => {
  expect(() => openToken({ SKILLGATE_TOKEN: "a-token-of-test" }, { renew: false })).toThrow(
    "SKILLGATE_TOKEN has 15 characters; use at least 16 random ones",
  );
});

test.each(["", "{", "{}", '{"sha256":"abc"}'])("throws for a token file that contains %j [V6]", (content) => {
  const env = { XDG_CONFIG_HOME: folder() };
  const file = tokenFile(env);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  expect(() => openToken(env, { renew: false })).toThrow(
    `Cannot read the configuration: "${file}": it contains no token; start once with --new-token to replace it`,
  );
});
