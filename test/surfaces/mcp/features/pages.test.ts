import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { EXPOSES } from "../../../../src/model/tools/exposure.ts";
import { folder } from "../../serving.ts";
import { takeEvery } from "../../../support/repetitions.ts";
import { ERAS, openLegacy, type RawClient } from "../raw-client.ts";
import { serveDescribed } from "./described.ts";

const PAGE = "ui://budget/app.html";
const text = (value: string) => ({ content: [{ type: "text", text: value }] });
const page = (uri = PAGE) => ({ ui: { resourceUri: uri } });

/** A server with a page, and a tool that only the page calls. */
const budget = (name: string) => ({
  tools: [
    { name: "show", _meta: page() },
    { name: "get-budget-data", _meta: { ui: { visibility: ["app"] } } },
    { name: `only-${name}` },
    { name: "plain" },
  ],
  contents: { [PAGE]: name },
  results: {
    show: { ...text(`shown by ${name}`), structuredContent: { shown: name } },
    "get-budget-data": text(`data of ${name}`),
    [`only-${name}`]: text(`only ${name}`),
  },
});

async function call(client: RawClient, name: string, args: object = {}): Promise<string> {
  return (await client.request("tools/call", { name, arguments: args })).content[0].text;
}

describe.each(takeEvery(2, ERAS))("a page shown by a client of %s", { tags: "repeated" }, (_era, open) => {
  test.each(EXPOSES)("calls the tools of its server by their names there, exposed as %s [M7] [V1]", async (expose) => {
    const { url } = await serveDescribed({ one: budget("one"), two: budget("two") }, { expose });
    const client = await open(url);
    expect(await call(client, "only-two")).toBe("only two");
    await expect(call(client, "get-budget-data")).rejects.toThrow("Unknown tool: get-budget-data");
    await client.request("resources/read", { uri: "ui://two.skillgate/budget/app.html" });
    expect(await call(client, "get-budget-data")).toBe("data of two");
    await client.request("resources/read", { uri: PAGE });
    expect(await call(client, "get-budget-data")).toBe("data of one");
    await client.request("resources/read", { uri: "skillgate://declarations" });
    expect(await call(client, "get-budget-data")).toBe("data of one");
  });
});

test("a page is not read, and calls no tool, beyond the rights of its caller [M7] [P1]", async () => {
  const settings = join(folder(), "settings.yaml");
  writeFileSync(settings, 'profiles: { one: { permissions: ["call:OneMCP.*"], except: [OneMCP.get_budget_data] } }');
  const { url } = await serveDescribed({ one: budget("one"), two: budget("two") }, {}, { settings });
  const client = await openLegacy(`${url}/one`);
  expect(await call(client, "only-one")).toBe("only one");
  for (const name of ["get-budget-data", "only-two"])
    await expect(call(client, name)).rejects.toThrow(`Unknown tool: ${name}`);
  const { contents } = await client.request("resources/read", { uri: PAGE });
  expect(contents[0].text).toBe("one");
  const uri = "ui://two.skillgate/budget/app.html";
  await expect(client.request("resources/read", { uri })).rejects.toThrow(`Resource not found: ${uri}`);
});

describe("the result of a call carries the page that shows it", () => {
  const ADDRESS = "ui://two.skillgate/budget/app.html";

  test("of the last call of a program that has one [M7]", async () => {
    const { url } = await serveDescribed({ one: budget("one"), two: budget("two") }, { expose: "code" });
    const client = await openLegacy(url);
    const run = async (code: string) =>
      (await client.request("tools/call", { name: "run_code", arguments: { code } }))._meta;
    expect(await run("await device.OneMCP.show(); await device.TwoMCP.show(); await device.OneMCP.plain()")).toEqual(
      page(ADDRESS),
    );
    expect(await run("await device.TwoMCP.show(); return await device.OneMCP.show()")).toEqual(page());
    expect(await run("await device.OneMCP.plain()")).toBeUndefined();
  });

  test("of call_method [M7]", async () => {
    const { url } = await serveDescribed({ one: budget("one"), two: budget("two") }, { expose: "calls" });
    const client = await openLegacy(url);
    const answer = await client.request("tools/call", { name: "call_method", arguments: { path: "TwoMCP.show" } });
    expect(answer).toEqual({ ...text("shown by two"), structuredContent: { shown: "two" }, _meta: page(ADDRESS) });
  });
});
