import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

import { expect, onTestFinished, test } from "vitest";

import { addDeclaredServer } from "../../src/config/declared-servers.ts";
import { editSettings } from "../../src/config/edit-settings.ts";
import { changeByHand, listTrust, loadConfig, revokeTrust, trustProject } from "../../src/config/index.ts";
import { changeFile } from "../../src/config/write-atomic.ts";
import { parse } from "../../src/shared/package/yaml.ts";

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

test("a file that is not UTF-8 stays as it is, and the error says so [M10]", async () => {
  const { file } = createFile("");
  const bytes = Buffer.from("# f\u00FCr alle\n", "latin1");
  writeFileSync(file, bytes);
  await expect(changeFile(file, OPTIONS, (text = "") => `${text}more`)).rejects.toThrow(
    "Cannot read the configuration: servers.json: it is not UTF-8 text; save it as UTF-8 (CONFIG_INVALID)",
  );
  expect(readFileSync(file).equals(bytes)).toBe(true);
});

test("settings that are changed at the same moment are all kept [O5]", async () => {
  const { folder } = createFile("");
  const file = join(folder, "settings.yaml");
  await Promise.all([1, 2, 3, 4].map((at) => editSettings(file, ["accounts", `acc${at}`, "type"], "bearer")));
  const kept = readFileSync(file, "utf8").match(/acc\d/g);
  expect(kept?.toSorted()).toEqual(["acc1", "acc2", "acc3", "acc4"]);
});

test("an edit of settings keeps the byte order mark, comments and the line ends of Windows [O5]", async () => {
  const { folder } = createFile("");
  const file = join(folder, "settings.yaml");
  writeFileSync(file, "\uFEFF# ours\r\nlimits:\r\n  calls: 5 # few\r\nskills:\r\n  dir: code\r\n");
  await editSettings(file, ["limits", "calls"], 6);
  await editSettings(file, ["skills", "TimeSkill", "zone"], "a\nb");
  const before = "\uFEFF# ours\r\nlimits:\r\n  calls: 6 # few\r\nskills:\r\n  dir: code\r\n";
  const written = readFileSync(file, "utf8");
  expect(written.slice(0, before.length)).toBe(before);
  expect(written.match(/(?<!\r)\n/)).toBeNull();
  expect(parse(written)).toMatchObject({ skills: { dir: "code", TimeSkill: { zone: "a\nb" } } });
});

test("of servers with one name that are added at the same moment, one is added [M10]", async () => {
  const { folder } = createFile("");
  const config = { options: { cwd: folder, env: { HOME: folder }, home: folder }, declared: [] };
  const add = (command: string) => addDeclaredServer({ name: "same", entry: { command } }, "project", { config });
  const added = await Promise.allSettled(["a", "b", "c"].map(add));
  const failed = added.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
  expect(failed.map(({ message }) => message)).toEqual(
    Array.from({ length: 2 }, () => expect.stringMatching(/^MCP server same already exists in \.?mcp\.json; /)),
  );
});

test("trust that is revoked during a change of the owner stays revoked [P12]", async () => {
  const cwd = realpathSync(createFile("").folder);
  const home = realpathSync(createFile("").folder);
  const options = { cwd, env: { HOME: home }, home };
  await trustProject(options, (await loadConfig(options)).trust);
  let revoked: Promise<boolean> | undefined;
  await changeByHand(options, { files: [join(cwd, "mcp.json")] }, async () => {
    revoked = revokeTrust(options, cwd);
    await Promise.race([revoked, setTimeout(200)]); // it waits for the end of this change
    writeFileSync(join(cwd, "mcp.json"), "{}");
  });
  expect(await revoked).toBe(true);
  expect(await listTrust(options)).toEqual([]);
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
