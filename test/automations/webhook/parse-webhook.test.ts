import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { parseWebhook } from "../../../src/automations/webhook/index.ts";
import { isRecord } from "../../../src/model/json.ts";
import { parse as parseYaml } from "../../../src/shared/package/yaml.ts";
import { parse } from "./deliveries.ts";

const HMAC = { type: "hmac", header: "X-Shop-Signature" };

test.each(["github", "stripe", "slack", "standard", "token"])("reads the service %s", (verify) => {
  expect(parse(verify)).toMatchObject({ secrets: ["${HOOK_SECRET}"] });
});

test("reads an id and five references of every form", () => {
  const secrets = ["${A}", "${env:B_2}", "${cmd:pass show hook}", "${D}", "${E}"];
  expect(parse("github", { id: "my-hook_2", secrets })).toMatchObject({ id: "my-hook_2", secrets });
});

test("reads a scheme with its defaults", () => {
  expect(parse(HMAC).schemes).toMatchObject([
    {
      type: "hmac",
      header: "x-shop-signature",
      algorithm: "sha256",
      encoding: "hex",
      prefix: "",
      signed: [{ kind: "field", field: "body" }],
    },
  ]);
});

test.each<readonly [object, string]>([
  [
    { secrets: ["a plain secret"] },
    'webhook.secrets[0] is a plain text, and a secret must not be in the file: write a reference to a variable, as in secrets: ["${HOOK_SECRET}"], or to a command, as in ${cmd:pass show hook}',
  ],
  [{ secrets: ["${A}", "${B:-the default}"] }, "webhook.secrets[1] has a default, and"],
  [{ secrets: ["whsec_${A}"] }, "webhook.secrets[0] is more than a reference, and"],
  [{ secrets: [] }, "webhook.secrets must be a list of 1 to 5 references"],
  [
    { secrets: ["${A}", "${B}", "${C}", "${D}", "${E}", "${F}"] },
    "webhook.secrets must be a list of 1 to 5 references",
  ],
  [{ secrets: "${A}" }, "webhook.secrets must be a list of 1 to 5 references"],
  [{ id: "a/b" }, "webhook.id must be a text of letters, digits, - and _, at most 64"],
  [{ id: "x".repeat(65) }, "webhook.id must be a text of letters, digits, - and _, at most 64"],
  [{ secret: "${A}" }, "webhook has the unknown setting secret; did you mean secrets?"],
  [{ verify: "githb" }, "webhook.verify has the unknown service: githb; did you mean github?"],
  [
    { verify: "shopify" },
    "webhook.verify has the unknown service: shopify; for another service, write a section with type: hmac",
  ],
  [{ verify: { ...HMAC, type: "rsa" } }, "webhook.verify.type must be hmac or token"],
  [{ verify: { type: "hmac" } }, "webhook.verify.header is required: the name of a header"],
  [{ verify: { ...HMAC, algorithm: "md5" } }, "webhook.verify.algorithm must be sha256, sha1 or sha512"],
  [{ verify: { ...HMAC, header: "X Shop" } }, "webhook.verify.header must be the name of a header"],
  [{ verify: { ...HMAC, header: "Cookie" } }, 'webhook.verify.header cannot be "Cookie"'],
  [{ verify: { ...HMAC, eventHeader: "Authorization" } }, 'webhook.verify.eventHeader cannot be "Authorization"'],
  [
    { verify: { ...HMAC, eventHeader: "x-shop-signature" } },
    "webhook.verify.eventHeader is the header of the signature",
  ],
  [{ verify: { ...HMAC, prefix: "v1," } }, "webhook.verify.prefix must have no space, comma or semicolon"],
  [{ verify: { ...HMAC, signed: "{timestamp}" } }, "webhook.verify.signed must have {body}"],
  [{ verify: { ...HMAC, signed: "{body}{body}" } }, "webhook.verify.signed has {body} more than once"],
  [
    { verify: { ...HMAC, signed: "{bdy}.{body}" } },
    'webhook.verify.signed has the unknown field "{bdy}": use {body}, {timestamp} or {id}',
  ],
  [{ verify: { ...HMAC, signed: "{timestamp}.{body}" } }, "webhook.verify.signed has {timestamp}: write where it is"],
  [
    { verify: { ...HMAC, signed: "{timestamp}0{body}", timestampHeader: "X-T" } },
    'webhook.verify.signed has "0" between two fields',
  ],
  [
    { verify: { ...HMAC, timestampHeader: "X-T" } },
    "webhook.verify.signed must have {timestamp}: a time that is not signed proves nothing",
  ],
  [
    { verify: { ...HMAC, idHeader: "X-Id" } },
    "webhook.verify.idHeader needs {id} in signed: an id that is not signed can be changed to repeat a delivery",
  ],
  [
    { verify: { ...HMAC, signed: "{id}.{body}", idField: "id" } },
    "webhook.verify.signed has {id}: write its header as idHeader",
  ],
  [
    { verify: { ...HMAC, idField: "id", idHeader: "X-Id" } },
    "webhook.verify has idHeader and idField: write one of them",
  ],
  [
    { verify: { ...HMAC, idField: "a.b.c.d.e.f" } },
    "webhook.verify.idField must be the name of a field, or up to five",
  ],
  [
    { verify: { type: "token", header: "X-Token", signed: "{body}" } },
    "webhook.verify.signed is a setting of type: hmac, and the type is token",
  ],
])("refuses %o", (settings, why) => {
  let message = "";
  try {
    parse("github", settings);
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message.slice(0, why.length)).toBe(why);
});

test.each([undefined, null, "github", 5, []])("refuses %o in place of a section", (value) => {
  expect(() => parseWebhook(value, (why) => new Error(why))).toThrow("webhook must be a section");
});

test("never repeats a plain secret in its message", () => {
  expect(() => parse("github", { secrets: ["hunter2-hunter2"] })).not.toThrow(/hunter2/);
});

test("the schemes in the documentation are valid", () => {
  const docs = readFileSync("docs/automations.md", "utf8");
  const blocks = [...docs.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]): unknown => parseYaml(text ?? ""));
  const schemes = blocks.flatMap((block) => (isRecord(block) && "verify" in block ? [block["verify"]] : []));
  expect(schemes.map((scheme) => parse(scheme).schemes.length)).toEqual([1, 1, 1, 1, 1]);
  const hooks = blocks.flatMap((block) => (isRecord(block) && "webhook" in block ? [block["webhook"]] : []));
  expect(hooks.map((hook) => parseWebhook(hook, (why) => new Error(why)).secrets.length)).toEqual([1]);
});
