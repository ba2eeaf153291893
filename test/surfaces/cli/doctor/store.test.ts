import { closeSync, mkdirSync, openSync, readdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { findSqlite } from "../../../../src/store/database/sqlite-program.ts";
import { getProcessName, openDatabase } from "../../../../src/store/index.ts";
import { project, skillgate } from "../command.ts";

const SETTINGS = { "settings.yaml": "store:\n  dir: state\n" };

async function checkStore(cwd: string): Promise<{ readonly exit: number | null; readonly lines: string }> {
  const { exit, stdout } = await skillgate(["doctor"], { cwd });
  const [, lines = ""] = /^(. Store: [^]*?)^. Sandbox/m.exec(stdout) ?? [];
  return { exit, lines };
}

test("shows with doctor where the store is [O1]", async () => {
  const cwd = project(SETTINGS);
  const folder = join(cwd, "state");
  await (await openDatabase({ folder })).close();
  const { exit, lines } = await checkStore(cwd);
  expect({ exit, lines }).toEqual({ exit: 0, lines: expect.stringMatching(/^✓ Store: .*skillgate\.db, \d+ KB\n$/) });
});

test("reports with doctor a store that cannot be created, as a file is where its folder must be [O1]", async () => {
  const cwd = project({ "settings.yaml": "store:\n  dir: state/store\n", state: "" });
  const { exit, lines } = await checkStore(cwd);
  expect({ exit, lines }).toEqual({
    exit: 2,
    lines: expect.stringContaining(
      `✗ Store: cannot be created in ${join(cwd, "state/store")}: ${join(cwd, "state")} is not a folder\n`,
    ),
  });
});

test("names with doctor the version of a store with a newer schema [O1]", async () => {
  const cwd = project(SETTINGS);
  const folder = join(cwd, "state");
  await (await openDatabase({ folder })).close();
  const connection = findSqlite()?.connect(join(folder, "skillgate.db"));
  connection?.exec("INSERT INTO migrations VALUES (99, '9.9.9', 0)");
  connection?.close();
  const { exit, lines } = await checkStore(cwd);
  expect(exit).toBe(2);
  expect(lines).toContain("✗ Store: Cannot use a store that a newer version of Skillgate has changed: ");
  expect(lines).toContain("Install skillgate@9.9.9 or newer (STORE_NEWER)");
});

test("names with doctor a damaged file, and leaves it where it is [O1]", async () => {
  const cwd = project(SETTINGS);
  const folder = join(cwd, "state");
  mkdirSync(folder);
  writeFileSync(join(folder, "skillgate.db"), "not a database ".repeat(1_000));
  const { exit, lines } = await checkStore(cwd);
  expect(exit).toBe(2);
  expect(lines).toMatch(/^✗ Store: The file of the store is damaged: .*skillgate\.db: .* \(STORE_DAMAGED\)\n/);
  expect(readdirSync(folder).filter((name) => name.includes("damaged"))).toEqual([]);
});

test.each(["program_spaces", "program_values"])("finds with doctor the damaged table %s [O1]", async (table) => {
  const cwd = project(SETTINGS);
  const folder = join(cwd, "state");
  const file = join(folder, "skillgate.db");
  {
    await using database = await openDatabase({ folder });
    const values = new Map(Array.from({ length: 100 }, (_, at) => [`key-${at}`, JSON.stringify("x".repeat(500))]));
    await database.programValues.addAll({ caller: "ada", automation: "" }, { values, marks: [] });
  }
  const connection = findSqlite()?.connect(file);
  const page = connection?.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").all(table)[0] as {
    readonly rootpage: number;
  };
  const sizes = connection?.prepare("PRAGMA page_size").get() as { readonly page_size: number } | undefined;
  const bytes = sizes?.page_size ?? 0;
  connection?.close();
  const opened = openSync(file, "r+");
  writeSync(opened, Buffer.alloc(bytes, "?"), 0, bytes, (page.rootpage - 1) * bytes);
  closeSync(opened);
  const { exit, lines } = await checkStore(cwd);
  expect(exit).toBe(2);
  expect(lines).toMatch(/^✗ Store: The file of the store is damaged: .*skillgate\.db: Tree .* \(STORE_DAMAGED\)\n/);
  expect(readdirSync(folder).filter((name) => name.includes("damaged"))).toEqual([]);
});

test("names with doctor the runs that no process executes, and not those that wait for a person [O1]", async () => {
  const cwd = project(SETTINGS);
  const folder = join(cwd, "state");
  {
    await using database = await openDatabase({ folder });
    const run = { caller: "local", title: "", created: 1, updated: 1, ended: null, continues: null, calls: 0 };
    const facts = { ...run, program: "", duration: 0, effects: 0, size: 0, claimedBy: null, attempts: 1 };
    const entry = { seq: 0, events: "[]", hash: "" };
    await database.runs.add({ ...facts, id: "stopped", state: "running" }, { ...entry, run: "stopped" });
    await database.runs.add({ ...facts, id: "asks", state: "waiting" }, { ...entry, run: "asks" });
    await database.runs.add({ ...facts, id: "answered", state: "waiting" }, { ...entry, run: "answered" });
    await database.runs.add({ ...facts, id: "ended", state: "completed" }, { ...entry, run: "ended" });
    const living = { ...facts, claimedBy: getProcessName().replace(`/${process.pid}/`, `/${process.ppid}/`) };
    await database.runs.add({ ...living, id: "works", state: "running" }, { ...entry, run: "works" });
    const gone = { ...facts, claimedBy: getProcessName().replace(`/${process.pid}/`, "/4194305/") };
    await database.runs.add({ ...gone, id: "killed", state: "running" }, { ...entry, run: "killed" });
    await database.approvals.add({
      id: "q",
      runId: "asks",
      callId: 1,
      caller: "local",
      path: "S.do",
      description: "",
      marks: [],
      approver: "user",
      arguments: [],
      digest: "d",
      plan: null,
      provenance: null,
      scopes: [],
      waiter: null,
      created: 1,
      expires: Date.now() + 1e6,
    });
  }
  const { exit, lines } = await checkStore(cwd);
  expect(exit).toBe(0);
  expect(lines).toMatch(
    /\n! Store: 3 runs without a process that executes them: (?=.*stopped)(?=.*answered)(?=.*killed)(?!.*works)/,
  );
  expect(lines).toContain("    skillgate serve continues them; end one with: skillgate runs cancel ID\n");
});
