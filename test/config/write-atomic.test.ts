import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { changeFile } from "../../src/config/write-atomic.ts";

/** No process has this number: it is beyond the largest of Linux. */
const ENDED = 2 ** 22 + 1;

const OPTIONS = { label: "servers.json", isPrivate: false };

function createFile(text: string): { readonly folder: string; readonly file: string } {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-change-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "servers.json");
  writeFileSync(file, text);
  return { folder, file };
}

test("changes of one file at the same moment all count [M10]", async () => {
  const { folder, file } = createFile("");
  const names = Array.from({ length: 20 }, (_, at) => `server${at}`);
  await Promise.all(names.map((name) => changeFile(file, OPTIONS, (text = "") => `${text}${name}\n`)));
  expect(readFileSync(file, "utf8").trim().split("\n").toSorted()).toEqual(names.toSorted());
  expect(readdirSync(folder)).toEqual(["servers.json"]);
});

test.each([
  ["of a process that was killed", String(ENDED)],
  ["that a project brings", "../../profile"],
])("a change does not wait for a lock %s [M10, P8]", async (_, holder) => {
  const { folder, file } = createFile("old");
  symlinkSync(holder, `${file}.lock`);
  await changeFile(file, OPTIONS, () => "new");
  expect(readFileSync(file, "utf8")).toBe("new");
  expect(readdirSync(folder)).toEqual(["servers.json"]);
});

test("a change says what holds the file, and leaves it as it was [M10]", { tags: "rest" }, async () => {
  const { file } = createFile("old");
  mkdirSync(`${file}.lock`);
  await expect(changeFile(file, OPTIONS, () => "new")).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: "Cannot change servers.json: another program is changing it",
    facts: { fix: `Try again, or remove ${file}.lock if no other program is changing the file` },
  });
  expect(readFileSync(file, "utf8")).toBe("old");
});
