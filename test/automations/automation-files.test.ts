import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, onTestFinished, test, vi } from "vitest";

import { openAutomationFiles } from "../../src/runtime/automations/automation-files.ts";
import { stringify } from "../../src/shared/package/yaml.ts";
import { readContents } from "../../src/runtime/automations/file-contents.ts";

async function createFolder(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "skillgate-automation-files-"));
  onTestFinished(() => rm(parent, { recursive: true }));
  await mkdir(join(parent, "automations"));
  return join(parent, "automations");
}

async function write(folder: string, name: string): Promise<void> {
  const file = { description: "Posts", key: "poster", source: "return 1;" };
  await writeFile(join(folder, `${name}.yaml`), JSON.stringify(file));
}

test("finds files in a folder that was removed and created again", async () => {
  const folder = await createFolder();
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {}, lookMs: 50 });
  onTestFinished(files.watch(() => {}));
  await rename(folder, `${folder}-before`);
  await mkdir(folder);
  await write(folder, "report");
  await expect.poll(() => files.get("report")?.kind).toBe("file");
});

test("keeps its files when the folder cannot be read for a while", async () => {
  const folder = await createFolder();
  await write(folder, "report");
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
  await files.refresh();
  // A link to itself is a folder that cannot be read, for every user.
  await rename(folder, `${folder}-before`);
  await symlink(folder, folder);
  await expect(files.refresh()).rejects.toThrow(/ELOOP/);
  expect(files.get("report")?.kind).toBe("file");
});

test.each([
  ["in one line", (value: object) => JSON.stringify(value)],
  ["in lines of JSON", (value: object) => JSON.stringify(value, null, 2)],
  ["in lines of YAML", (value: object) => stringify(value)],
])("reads a file with a hundred levels and 500 properties %s", async (_, format) => {
  const folder = await createFolder();
  let nested: object = { type: "string" };
  for (let level = 0; level < 48; level++) nested = { items: nested, list: [{ a: 1 }, { b: 2 }] };
  const properties = Object.fromEntries(Array.from({ length: 500 }, (_each, at) => [`name${at}`, { type: "string" }]));
  const input = { type: "object", properties: { ...properties, nested } };
  const text = format({ description: "Posts", key: "poster", input, source: "return 1;\n".repeat(20_000) });
  await writeFile(join(folder, "report.yaml"), text);
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
  await files.refresh();
  expect(files.list()).toMatchObject([{ kind: "file", file: { input } }]);
});

test("reads and parses a file that has not changed once, also one that cannot be used", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 }); // a file that was written a moment ago is read again
  onTestFinished(() => void vi.useRealTimers());
  const folder = await createFolder();
  await write(folder, "report");
  await writeFile(join(folder, "broken.yaml"), "key: poster\n");
  const contents = await readContents(folder, new Map());
  const getError = (): unknown => {
    const broken = contents.get("broken");
    try {
      return broken?.kind === "text" && broken.parse();
    } catch (error) {
      return error;
    }
  };
  expect(getError()).toMatchObject({ code: "AUTOMATION_INVALID" });
  expect(getError()).toBe(getError());
  const again = await readContents(folder, contents);
  for (const name of ["report", "broken"]) expect(again.get(name)).toBe(contents.get(name));
  await writeFile(join(folder, "broken.yaml"), TEXT);
  const changed = await readContents(folder, again);
  expect([...changed].filter(([name, content]) => content !== contents.get(name))).toMatchObject([
    ["broken", { kind: "text", text: TEXT }],
  ]);
});

test("does not parse a file without trust, and uses it as soon as there is trust", async () => {
  let why: string | undefined = "it is new";
  const gate = { refresh: async () => {}, whyHeldIn: () => undefined, whyHeld: async () => why };
  const folder = await createFolder();
  await writeFile(join(folder, "report.yaml"), "[".repeat(100_000));
  await write(folder, "other");
  const files = openAutomationFiles(folder, { gate, warn: () => {} });
  await files.refresh();
  for (const entry of files.list())
    expect(entry).toMatchObject({ kind: "unusable", why: expect.stringContaining("it is new") });
  why = undefined;
  await files.refresh();
  expect(files.get("other")?.kind).toBe("file");
  expect(files.get("report")).toMatchObject({ why: expect.stringContaining("nested too deeply") });
});

test("reads once for several calls at once", async () => {
  const folder = await createFolder();
  let count = 0;
  const gate = { refresh: async () => void count++, whyHeldIn: () => undefined, whyHeld: async () => undefined };
  const files = openAutomationFiles(folder, { gate, warn: () => {} });
  await Promise.all(Array.from({ length: 100 }, () => files.refresh()));
  expect(count).toBe(1);
  const first = files.refresh();
  await Promise.resolve();
  await write(folder, "report");
  await Promise.all([first, files.refresh()]);
  expect(files.get("report")?.kind).toBe("file");
});

const TEXT = JSON.stringify({ description: "Posts", key: "poster", source: "return 1;" });

describe("says why it does not use", () => {
  const head = "description: Posts\nkey: poster\n";
  const bomb = Array.from({ length: 20 }, (_, at) => `  b${at}: &b${at} [${`*b${at - 1},`.repeat(9)}]\n`).join("");
  const tooMany = "it has more than 20000 names, values and marks of YAML: write large data as a text, after |";

  test.each<readonly [what: string, text: string | Buffer, why: string]>([
    [
      "aliases of aliases",
      `${head}input:\n  "b-1": &b-1 x\n${bomb}source: return 1;\n`,
      "aliases, such as *name, are not allowed",
    ],
    [
      "a merged key",
      `${head}input: { <<: &a { x: 1 }, y: *a }\nsource: return 1;\n`,
      "aliases, such as *name, are not allowed",
    ],
    ["many values", `${head}input: { a: [${"1,".repeat(200_000)}1] }\n`, tooMany],
    ["many quotes", '"'.repeat(500_000), tooMany],
    ["many comments", "# a\n".repeat(100_000), tooMany],
    ["many documents", "---\n".repeat(100_000), tooMany],
    ["two documents", `${head}source: a\n---\n${head}`, "multiple documents"],
    ["many lists in one another", `${head}input: ${"[".repeat(250_000)}`, "it is nested too deeply"],
    ["many items in one another", `${head}input:\n${"- ".repeat(250_000)}`, "it is nested too deeply"],
    [
      "many indented names",
      head + Array.from({ length: 900 }, (_, at) => `${" ".repeat(at)}a:\n`).join(""),
      "it is nested too deeply",
    ],
    ["a tag of a type", `${head}source: !!js/function "return 1"\n`, "Unresolved tag"],
    ["the same field twice", `${head}key: other\nsource: a\n`, "the field key appears twice"],
    ["the field __proto__", `${head}__proto__: { run: a }\nsource: a\n`, "unknown field"],
    ["a list", "- a\n", "the file must have fields"],
    ["an empty file", "", "the file must have fields"],
    ["bytes of no text", Buffer.alloc(100, 0xff), "the file must have fields"],
    ["more bytes than are read", `# ${"a".repeat(512 << 10)}`, "it has 524290 bytes; at most 524288 are read"],
  ])("%s", async (_, text, why) => {
    const folder = await createFolder();
    await writeFile(join(folder, "report.yaml"), text);
    const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
    await files.refresh();
    expect(files.list()).toEqual([{ kind: "unusable", name: "report", why: expect.stringContaining(why) }]);
  });

  test.each<readonly [what: string, create: (path: string) => unknown]>([
    ["a folder", (path) => mkdir(path)],
    ["a link to a file", (path) => symlink("/etc/hostname", path)],
    ["a link to a device", (path) => symlink("/dev/zero", path)],
    ["a link to nothing", (path) => symlink("nowhere", path)],
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
    ["a socket", (path) => listenAt(path)],
  ])("%s", async (_, create) => {
    const folder = await createFolder();
    await create(join(folder, "report.yaml"));
    const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
    await files.refresh();
    expect(files.list()).toEqual([{ kind: "unusable", name: "report", why: "it is not a regular file" }]);
  });

  test.each([
    "Report",
    "daily report",
    "übersicht",
    "отчёт",
    "ｒeport",
    "re\u0301port",
    "a\u202eb",
    "a\nb",
    "a\u001b[2J",
    "-a",
    "a".repeat(64),
  ])("the name %j", async (name) => {
    const folder = await createFolder();
    await writeFile(join(folder, `${name}.yaml`), TEXT);
    const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
    await files.refresh();
    const [entry] = files.list();
    expect(entry).toMatchObject({
      kind: "unusable",
      name,
      why: expect.stringContaining("cannot be its name: write a to z, 0 to 9 and -"),
    });
  });
});

async function listenAt(path: string): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}

test.each([".report.yaml", "_report.yaml", "report.yml", "report.yaml.swp", "report.cassette.json"])(
  "does not read %s",
  async (name) => {
    const folder = await createFolder();
    await writeFile(join(folder, name), TEXT);
    const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
    await files.refresh();
    expect(files.list()).toEqual([]);
  },
);

test("refuses a folder with more than 10,000 files, and keeps those that it has read", { tags: "rest" }, async () => {
  const folder = await createFolder();
  await write(folder, "report");
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
  await files.refresh();
  for (let at = 0; at < 10_000; at++) await writeFile(join(folder, `a${at}.yaml`), "");
  await expect(files.refresh()).rejects.toThrow(
    "the folder automations has more than 10000 files: remove some of them (AUTOMATION_INVALID)",
  );
  expect(files.list().map(({ name }) => name)).toEqual(["report"]);
});

test("refuses a folder with more than 64 MB, and keeps the files that it has read", { tags: "rest" }, async () => {
  const folder = await createFolder();
  await write(folder, "report");
  const files = openAutomationFiles(folder, { gate: undefined, warn: () => {} });
  await files.refresh();
  for (let at = 0; at < 128; at++) await writeFile(join(folder, `a${at}.yaml`), "#".repeat(512 << 10));
  await expect(files.refresh()).rejects.toThrow(
    "the folder automations has more than 67108864 bytes: remove some of its files (AUTOMATION_INVALID)",
  );
  expect(files.list().map(({ name }) => name)).toEqual(["report"]);
});
