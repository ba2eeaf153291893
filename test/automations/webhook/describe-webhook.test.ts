import { expect, test } from "vitest";

import { describeScheme, parseWebhook } from "../../../src/automations/webhook/index.ts";

test.each([
  ["github", "github"],
  ["standard", "standard"],
  ["token", "token"],
  [{ type: "hmac", header: "X-Shop-Signature", algorithm: "sha512" }, "hmac sha512 in the header x-shop-signature"],
  [{ type: "token", header: "X-Token" }, "token in the header x-token"],
])("describes verify: %j", (verify, words) => {
  const webhook = parseWebhook({ verify, secrets: ["${HOOK_SECRET}"] }, (why) => new Error(why));
  expect(describeScheme(webhook)).toBe(words);
});
