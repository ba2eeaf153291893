import { expect, test } from "vitest";
import { isMemberName, toMethodNames, toSkillName } from "../../src/shared/names/skill-names.ts";

test.each([
  ["brave-search", "BraveSearchMCP"],
  ["file_system", "FileSystemMCP"],
  ["filesystem", "FilesystemMCP"],
  ["context7", "Context7MCP"],
  ["GitHub", "GitHubMCP"],
  ["Home Assistant", "HomeAssistantMCP"],
  ["foo-bar_baz qux", "FooBarBazQuxMCP"],
  ["7zip", "Server7zipMCP"],
  ["@scope/büro.server", "ScopeBüroServerMCP"],
  ["查找", "查找MCP"],
  ["--", "ServerMCP"],
  ["", "ServerMCP"],
  ["🚀 launch", "LaunchMCP"],
  ["x".repeat(100_000), `X${"x".repeat(60)}MCP`],
])("turns the server %j into the skill %s [N1]", (server, skill) => {
  expect(toSkillName(server)).toBe(skill);
});

test.each([
  ["query-docs", "query_docs"],
  ["browser:click", "browser_click"],
  ["HassTurnOn", "HassTurnOn"],
  ["$eval", "$eval"],
  ["delete", "delete"],
  ["2fa", "_2fa"],
  ["名前", "名前"],
  ["a😀b", "a_b"],
  ["zero\u200Bwidth\u3164", "zero_width_"],
  ["", "_"],
  ["x".repeat(100_000), "x".repeat(128)],
  ...["then", "constructor", "__proto__", "prototype", "toString", "valueOf", "toJSON"].map((name) => [
    name,
    `${name}_`,
  ]),
])("turns the tool %j into the method %s [N2]", (tool, method) => {
  expect(toMethodNames([tool])).toEqual([method]);
});

test("makes all tools that map to one name reachable, in any order [N2]", () => {
  const expected: Record<string, string> = {
    get_user: "get_user",
    "get-user": "get_user_3",
    "get.user": "get_user_4",
    get_user_2: "get_user_2",
  };
  const tools = Object.keys(expected);
  expect(toMethodNames(tools)).toEqual(tools.map((tool) => expected[tool]));
  tools.reverse();
  expect(toMethodNames(tools)).toEqual(tools.map((tool) => expected[tool]));
});

test("gives fifty thousand tools of one name fifty thousand names [N2]", () => {
  const names = toMethodNames(Array.from({ length: 50_000 }, (_, index) => "?".repeat(1 + (index % 3))));
  expect(new Set(names).size).toBe(50_000);
  expect(names.every(isMemberName)).toBe(true);
});

test("accepts exactly the member names that mapping would not change [N2]", () => {
  expect(["add", "delete", "_x"].map(isMemberName)).toEqual([true, true, true]);
  expect(["", "a-b", "then", "1a", "__proto__"].map(isMemberName)).toEqual([false, false, false, false, false]);
});
