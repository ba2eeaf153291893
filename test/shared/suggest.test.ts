import { expect, test } from "vitest";
import { suggestNames } from "../../src/shared/suggest.ts";

const NAMES = ["read_text_file", "write_file", "list_directory", "web_search", "searchIssues", "add", "HassTurnOn"];

test.each([
  ["read_txt_file", ["read_text_file"]],
  ["ReadTextFile", ["read_text_file"]],
  ["readFile", ["read_text_file"]],
  ["writeflie", ["write_file"]],
  ["search_web", ["web_search"]],
  ["search", ["searchIssues", "web_search"]],
  ["ad", ["add"]],
  ["addd", ["add"]],
  ["hass-turn-on", ["HassTurnOn"]],
  ["zzzz", []],
  ["", []],
  ["x", []],
])("suggests for %j the nearest names %j [S5]", (name, expected) => {
  expect(suggestNames(name, NAMES).slice(0, expected.length || 3)).toEqual(expected);
});

test("returns the best name first, and at most as many as the limit [S5]", () => {
  expect(suggestNames("listFiles", ["listFolders", "list_files", "listFile", "lists"], 2)).toEqual([
    "list_files",
    "listFile",
  ]);
  expect(suggestNames("listFiles", ["list_files"], 0)).toEqual([]);
});

test("compares names of other scripts [S5]", () => {
  expect(suggestNames("文件讀取", ["文件读取", "天气"])).toEqual(["文件读取"]);
});

test("compares a hostile name with fifty thousand others [S5]", { tags: "rest" }, () => {
  const candidates = Array.from({ length: 50_000 }, (_, index) => `${"a".repeat(70)}${index}`);
  expect(suggestNames("a".repeat(1_000_000), candidates)).toEqual([]);
  expect(suggestNames(`${"a".repeat(69)}b1`, candidates)).toHaveLength(3);
  expect(suggestNames("ab".repeat(35), candidates)).toEqual([]);
});
