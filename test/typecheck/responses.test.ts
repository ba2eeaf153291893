import { describe, expect, test } from "vitest";

import type { JsonSchema } from "../../src/model/json.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { checkTypes } from "../../src/typecheck/check-types.ts";
import { findDiagnostics } from "../registry/compile.ts";
import { createDeclarations } from "./samples.ts";

const input: JsonSchema = {
  type: "object",
  properties: { org: { type: "string" }, page: { type: "integer" }, includeResponse: { type: ["boolean", "array"] } },
  required: ["org"],
  additionalProperties: false,
};
const item: JsonSchema = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } };
const list: JsonSchema = { type: "array", items: item };

/** An API with two lists and a single thing. */
const API: ProvidedSkill = {
  name: "ShopAPI",
  description: "A shop",
  source: "shop.json",
  kind: "api",
  methods: [
    { name: "list", description: "", input, output: list, response: { items: [] } },
    {
      name: "search",
      description: "",
      input,
      output: { allOf: [{ type: "object", properties: { data: list }, required: ["data"] }] },
      response: { items: ["data"] },
    },
    { name: "get", description: "", input, output: item, response: {} },
  ],
  invoke: () => Promise.reject(new Error("Cannot call a method of a sample")),
};

const DECLARATIONS = createDeclarations([API]);

function say(code: string): readonly string[] {
  return checkTypes({ code, typescript: false, declarations: DECLARATIONS }).map(
    ({ certain, message }) => `${certain ? "!" : "?"} ${message}`,
  );
}

describe("tells the two results of a method of an API apart [S5]", () => {
  test.each([
    [
      "the whole response",
      `const r = await device.ShopAPI.list({ org: "a", includeResponse: true });
      return [r.status + 1, r.headers["etag"], r.body[0].name, r.next, r.body.length];`,
    ],
    ["by position", `return device.ShopAPI.get("a", { includeResponse: true }).body.name;`],
    [
      "the next page",
      `let page = await device.ShopAPI.list({ org: "a", includeResponse: true });
      while (page.next) page = await device.ShopAPI.list(page.next);
      return page.body;`,
    ],
    ["a computed flag", `return device.ShopAPI.get({ org: "a", includeResponse: input.flag }).body;`],
    [
      "arguments from elsewhere",
      `const args = JSON.parse("{}"); return device.ShopAPI.list(args).map((each) => each.id);`,
    ],
    ["pages", `return (await device.ShopAPI.list.pages({ org: "a" }, { items: 5 })).map((each) => each.name.trim());`],
    ["pages of a member", `return device.ShopAPI.search.pages({ org: "a" }).at(0).id;`],
  ])("accepts %s", (_title, code) => {
    expect(say(code)).toEqual([]);
  });

  test.each([
    [
      "the body without the flag",
      `return device.ShopAPI.list({ org: "a" }).body;`,
      `! "body" does not exist on an array`,
    ],
    [
      "the list with the flag",
      `return device.ShopAPI.list({ org: "a", includeResponse: true }).bodi;`,
      `! "bodi" does not exist in the result of ShopAPI.list; declared members: status, headers, body, next`,
    ],
    [
      "a member of the body",
      `return device.ShopAPI.get({ org: "a", includeResponse: true }).body.nmae;`,
      `! "nmae" does not exist in the result of ShopAPI.get; declared members: id, name`,
    ],
    [
      "next of one thing",
      `return device.ShopAPI.get({ org: "a", includeResponse: true }).next;`,
      `? "next" does not exist in the result of ShopAPI.get; declared members: status, headers, body`,
    ],
    [
      "a member of an item",
      `for (const each of await device.ShopAPI.search.pages({ org: "a" })) print(each.nmae);`,
      `! "nmae" does not exist in the result of ShopAPI.search.pages; declared members: id, name`,
    ],
    [
      "the body of pages",
      `return device.ShopAPI.list.pages({ org: "a" }).body;`,
      `! "body" does not exist on an array`,
    ],
    [
      "a wrong argument",
      `return device.ShopAPI.list({ org: 5, includeResponse: true }).body;`,
      `! "org" of ShopAPI.list must be a string, not 5`,
    ],
  ])("reports %s", (_title, code, message) => {
    expect(say(code)).toEqual([message]);
  });
});

test("declares both results and the pages for editors [D5]", { tags: "rest" }, () => {
  expect(DECLARATIONS).toContain("get(args: { org: string; page?: number }): Promise<");
  expect(DECLARATIONS).toContain(
    "pages(args: { org: string; page?: number }, options?: { items?: number; pages?: number })",
  );
  const program = `const whole = await device.ShopAPI.list({ org: "a", includeResponse: true });
    const status: number = whole.status + (whole.body[0]?.id ?? 0);
    const again = whole.next && (await device.ShopAPI.list(whole.next)).headers["etag"];
    const names: (string | undefined)[] = (await device.ShopAPI.search.pages({ org: "a" }, { pages: 2 })).map((each) => each.name);
    const wrong: number = (await device.ShopAPI.get("a")).body;
    export { status, again, names, wrong };`;
  expect(findDiagnostics({ "/device.d.ts": DECLARATIONS, "/program.ts": program })).toEqual([
    expect.stringContaining("Property 'body' does not exist"),
  ]);
});
