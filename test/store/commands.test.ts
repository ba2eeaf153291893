import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, test } from "vitest";

import { AUDIT } from "../../src/store/audit/rows.ts";
import { openEngine } from "../../src/store/database/open.ts";
import {
  BIN,
  ended,
  environment,
  MATH_SKILL,
  project,
  shareProject,
  skillgate,
  start,
} from "../surfaces/cli/command.ts";

const SETTINGS = { "skills/math.js": MATH_SKILL, "settings.yaml": "audit: store\nstore: { dir: state }\n" };

const getTemplate = shareProject(SETTINGS);
let called: Promise<unknown> | undefined;

/** Creates a project whose store has the records of one call: a copy of the store of a project in which it was made. */
async function projectWithCall(): Promise<string> {
  await (called ??= skillgate(["call", "MathSkill.add", "a=1", "b=2"], { cwd: getTemplate() }));
  const cwd = project(SETTINGS);
  cpSync(join(getTemplate(), "state"), join(cwd, "state"), { recursive: true });
  return cwd;
}

function parseLines(text: string): readonly Record<string, unknown>[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Changes a record as a person with access to the file does. */
async function changeRecord(cwd: string, seq: number): Promise<void> {
  const engine = await openEngine({ folder: join(cwd, "state") }, { lockMs: 500, warn: () => {} });
  const [row] = await engine.select(AUDIT, { seq });
  await engine.update(AUDIT, { seq }, { record: row?.record.replace('"allowed"', '"refused"') ?? "" });
  await engine.close();
}

test(
  "lists and verifies the calls of a server, and names a record that was changed [P8]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/math.js": MATH_SKILL, "settings.yaml": "store: { dir: state }\n" });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [BIN, "serve", "--stdio"],
        cwd,
        env: environment(cwd) as Record<string, string>,
      }),
    );
    const code = "device.MathSkill.add(1, 2); device.MathSkill.add(3, 4)";
    await client.callTool({ name: "run_code", arguments: { code } });
    // The answer is there, so its records are stored, while the server still runs.
    const listed = await skillgate(["audit", "list", "--json"], { cwd });
    const { records } = JSON.parse(listed.stdout) as { records: readonly Record<string, unknown>[] };
    expect(records.map(({ seq, method, event }) => [seq, method, event])).toEqual([
      [1, "MathSkill.add", "decision"],
      [2, "MathSkill.add", "end"],
      [3, "MathSkill.add", "decision"],
      [4, "MathSkill.add", "end"],
    ]);
    await client.close();
    const verified = await skillgate(["audit", "verify"], { cwd });
    expect(verified).toMatchObject({ exit: 0, stderr: "" });
    expect(verified.stdout).toMatch(
      /^All is well: 4 records, each in its place, and 1 signed head\nThe last is record 4: /,
    );
    await changeRecord(cwd, 3);
    expect(await skillgate(["audit", "verify"], { cwd })).toEqual({
      exit: 1,
      stdout: "",
      stderr: "Record 3 was changed\n",
    });
    const { stdout } = await skillgate(["audit", "verify", "--json"], { cwd });
    expect(JSON.parse(stdout)).toEqual({ kind: "broken", problem: "changed", seq: 3, says: "Record 3 was changed" });
  },
);

test("stores no records of a single command unless the settings say so [P8]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL, "settings.yaml": "store: { dir: state }\n" });
  await skillgate(["call", "MathSkill.add", "a=1", "b=2"], { cwd });
  expect((await skillgate(["audit", "list"], { cwd })).stdout).toBe("No records\n");
  writeFileSync(join(cwd, "settings.yaml"), SETTINGS["settings.yaml"]);
  await skillgate(["call", "MathSkill.add", "a=1", "b=2"], { cwd });
  expect((await skillgate(["audit", "list"], { cwd })).stdout).toMatch(
    /^1 {2}\S+Z {2}owner {2}MathSkill\.add {2}allowed\n2 {2}\S+Z {2}owner {2}MathSkill\.add {2}ok {7}[\d.]+ ms\n$/,
  );
});

test("filters and exports records as JSON lines and CSV [P8]", { tags: "rest" }, async () => {
  const cwd = await projectWithCall();
  await skillgate(["call", "MathSkill.fail", "why=x"], { cwd });
  const exported = parseLines((await skillgate(["audit", "export", "--method", "MathSkill.fail"], { cwd })).stdout);
  expect(exported.at(-1)).toMatchObject({ trailer: { lines: 2, filter: { method: "MathSkill.fail" } } });
  const lines = exported.slice(0, -1);
  expect(lines.map(({ seq, outcome, code }) => [seq, outcome, code])).toEqual([
    [3, undefined, undefined],
    [4, "error", "CALL_FAILED"],
  ]);
  const own = join(cwd, "own.jsonl");
  writeFileSync(own, (await skillgate(["audit", "export", "--json"], { cwd })).stdout);
  expect(await skillgate(["audit", "verify", own], { cwd })).toMatchObject({ exit: 0, stderr: "" });
  const out = join(cwd, "audit.csv");
  expect((await skillgate(["audit", "export", "--format", "csv", "--out", out], { cwd })).stdout).toBe(
    "Wrote 4 records to audit.csv\n",
  );
  expect(statSync(out).mode & 0o777).toBe(0o600);
  const [head, first] = readFileSync(out, "utf8").split("\n");
  expect(head).toBe(
    "seq,time,event,runId,callId,caller,method,argumentsDigest,decision,outcome,code,cached,durationMs,hash",
  );
  expect(first).toMatch(/^1,[^,]+Z,decision,[^,]+,1,owner,MathSkill\.add,[0-9a-f]{16},allowed,,,,,[0-9a-f]{64}$/);
  expect(await skillgate(["audit", "export", "--out", out], { cwd })).toMatchObject({ exit: 2, stdout: "" });
  expect(await skillgate(["audit", "list", "--since", "soon"], { cwd })).toMatchObject({
    exit: 2,
    stderr: 'Cannot read the time "soon": write it as 2026-01-31 or 2026-01-31T12:00Z\n',
  });
});

test("verifies a log against a head that was kept elsewhere [P8]", { tags: "rest" }, async () => {
  const cwd = await projectWithCall();
  const head = join(cwd, "head.json");
  writeFileSync(head, (await skillgate(["audit", "verify", "--json"], { cwd })).stdout);
  expect((await skillgate(["audit", "verify", "--head", head], { cwd })).exit).toBe(0);
  const other = project(SETTINGS);
  expect(await skillgate(["audit", "verify", "--head", head], { cwd: other })).toMatchObject({
    exit: 1,
    stderr: "The records from 1 on are missing: a signed head says that there were at least 2\n",
  });
  expect(await skillgate(["audit", "verify", "--head", "settings.yaml"], { cwd })).toMatchObject({ exit: 2 });
});

test(
  "verifies an exported file, also elsewhere, and names a line that was changed [P8]",
  { tags: "rest" },
  async () => {
    const cwd = await projectWithCall();
    const file = join(cwd, "audit.jsonl");
    await skillgate(["audit", "export", "--out", file], { cwd });
    const verified = await skillgate(["audit", "verify", file], { cwd });
    expect(verified).toMatchObject({ exit: 0, stderr: "" });
    expect(verified.stdout).toMatch(/^All is well: 2 records, signed \d{4}-\S+Z with the expected key: [\w+/=]+\n$/);
    const other = project(SETTINGS);
    expect((await skillgate(["audit", "verify", file], { cwd: other })).stdout).toContain(
      "with a key that this project does not know: ",
    );
    const key = join(other, "key.pem");
    const { publicKey } = generateKeyPairSync("ed25519");
    writeFileSync(key, publicKey.export({ type: "spki", format: "pem" }));
    expect(await skillgate(["audit", "verify", file, "--key", key], { cwd: other })).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/^The trailer is signed by another key than expected: /),
    });
    expect(await skillgate(["audit", "verify", "--key", key], { cwd })).toMatchObject({
      exit: 1,
      stderr: expect.stringMatching(/^No head is signed by a key of this project; 1 are signed by other keys\. /),
    });
    expect(await skillgate(["audit", "verify", "--key", "settings.yaml"], { cwd })).toMatchObject({
      exit: 2,
      stderr: "Cannot read public keys in settings.yaml: it must be a copy of audit-keys.pub.pem\n",
    });
    writeFileSync(file, readFileSync(file, "utf8").replace('"ok"', '"OK"'));
    expect(await skillgate(["audit", "verify", file], { cwd })).toEqual({
      exit: 1,
      stdout: "",
      stderr: "Line 2 was changed\n",
    });
    expect(await skillgate(["audit", "verify", "none.jsonl"], { cwd })).toMatchObject({
      exit: 2,
      stderr: 'Cannot read "none.jsonl": it does not exist\n',
    });
  },
);

test("prints new records while another process adds them [P8]", { tags: "rest" }, async () => {
  const cwd = await projectWithCall();
  const tail = start(["audit", "tail", "--limit", "1"], { cwd });
  const lines = createInterface(tail.stdout ?? process.stdin)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toMatch(/^2 .* MathSkill\.add {2}ok/);
  await skillgate(["call", "MathSkill.fail", "why=x"], { cwd });
  expect((await lines.next()).value).toMatch(/^3 .* MathSkill\.fail {2}allowed/);
  expect((await lines.next()).value).toMatch(/^4 .* MathSkill\.fail {2}error CALL_FAILED/);
  const exit = once(tail, "exit");
  tail.kill("SIGINT");
  expect((await exit)[0]).toBe(130);
});

test("prints each new record as a line of JSON with --json [P8]", { tags: "rest" }, async () => {
  const cwd = await projectWithCall();
  const tail = start(["audit", "tail", "--limit", "1", "--json"], { cwd });
  const outcome = ended(tail);
  await once(tail.stdout ?? tail, "data");
  tail.kill("SIGINT");
  const { exit, stdout } = await outcome;
  expect(exit).toBe(130);
  expect(parseLines(stdout)).toMatchObject([{ seq: 2, method: "MathSkill.add", outcome: "ok" }]);
});

test("names a backup that does not exist as the command line did", { tags: "rest" }, async () => {
  const cwd = project(SETTINGS);
  expect(await skillgate(["store", "restore", "monday.db"], { cwd })).toEqual({
    exit: 2,
    stdout: "",
    stderr: 'Cannot read "monday.db": it does not exist\n',
  });
});

test("names a folder in place of a backup as the command line did", { tags: "rest" }, async () => {
  const cwd = project({ ...SETTINGS, "backups/monday.db": "" });
  expect(await skillgate(["store", "restore", "backups"], { cwd })).toEqual({
    exit: 2,
    stdout: "",
    stderr: 'Cannot read "backups": it is a folder\n',
  });
});

test("shows how much programs store", { tags: "rest" }, async () => {
  const cwd = project(SETTINGS);
  await skillgate(["run", "-e", 'await device.store.set("a", "é")'], { cwd });
  expect((await skillgate(["store", "info"], { cwd })).stdout).toMatch(/^programValues +1 record$/m);
});

test("shows, exports and cleans up the store", async () => {
  const cwd = await projectWithCall();
  const file = join(cwd, "state", "skillgate.db");
  expect(JSON.parse((await skillgate(["store", "info", "--json"], { cwd })).stdout)).toMatchObject({
    kind: "sqlite",
    place: file,
    rows: { audit: 2, keys: 0 },
  });
  expect((await skillgate(["store", "info"], { cwd })).stdout).toMatch(new RegExp(`^place +${file}$`, "m"));
  const tables = parseLines((await skillgate(["store", "export"], { cwd })).stdout).map(({ table }) => table);
  expect(tables).toEqual(["migrations", "audit", "audit", "auditHeads"]);
  expect((await skillgate(["store", "vacuum"], { cwd })).stdout).toMatch(
    /^Deleted 0 records; the store has \d+ KB, before \d+ KB\n$/,
  );
});

test("says what is wrong with a damaged store, and with settings that cannot be meant", async () => {
  const cwd = project({ "settings.yaml": "audit: sometimes\nstore: { dir: state, keep: { auditDays: 0 } }\n" });
  mkdirSync(join(cwd, "state"));
  writeFileSync(join(cwd, "state", "skillgate.db"), "damaged ".repeat(1_000));
  const { exit, stderr } = await skillgate(["audit", "list"], { cwd });
  expect(exit).toBe(0);
  expect(stderr).toMatch(/The store .*skillgate\.db was damaged\. Its file is now skillgate\.db\.damaged-/);
  const doctor = await skillgate(["doctor"], { cwd });
  expect(doctor.stdout).toContain("audit must be off or store");
  expect(doctor.stdout).toContain("store.keep.auditDays must be a whole number from 1, not 0");
});

test("names the version to install for a store of a newer version", async () => {
  const cwd = project(SETTINGS);
  await skillgate(["store", "info"], { cwd });
  const { MIGRATIONS } = await import("../../src/store/database/schema.ts");
  const engine = await openEngine({ folder: join(cwd, "state") }, { lockMs: 500, warn: () => {} });
  await engine.insert(MIGRATIONS, [{ version: 99, program: "9.1.0", time: 0 }]);
  await engine.close();
  const { exit, stderr } = await skillgate(["store", "info"], { cwd });
  expect(exit).toBe(1);
  expect(stderr).toContain("Install skillgate@9.1.0 or newer (STORE_NEWER)");
});

test("names the program that copies or restores a store in PostgreSQL", { tags: "rest" }, async () => {
  const cwd = project({
    "settings.yaml": "store: { dir: state, url: 'postgres://a@127.0.0.1:1/b?search_path=team' }\n",
  });
  const explain = async (args: readonly string[]): Promise<string> =>
    (await skillgate(["store", ...args, "settings.yaml"], { cwd })).stderr;
  expect(await explain(["backup", "--out"])).toContain(
    "The store is a PostgreSQL database: copy its schema with pg_dump, and audit-key.pem in ",
  );
  expect(await explain(["restore"])).toContain(
    "The store is a PostgreSQL database: restore its schema with pg_restore, and audit-key.pem in ",
  );
});

test("backs up and restores a store, and says why it cannot [P8]", async () => {
  const cwd = await projectWithCall();
  const backup = ["store", "backup", "--out", "monday.db"];
  expect(await skillgate(backup, { cwd })).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^Wrote the store, with \d files beside it, to monday\.db: \d+ KB\n$/) as unknown,
  });
  expect(await skillgate(backup, { cwd })).toMatchObject({
    exit: 2,
    stderr: "Cannot write monday.db: it exists already; name a new file\n",
  });
  expect(await skillgate(["store", "backup", "--out", "none/monday.db"], { cwd })).toMatchObject({
    exit: 2,
    stderr: "Cannot write none/monday.db: its folder does not exist\n",
  });
  await skillgate(["call", "MathSkill.add", "a=1", "b=2"], { cwd });
  const restored = await skillgate(["store", "restore", "monday.db"], { cwd });
  expect(restored).toMatchObject({ exit: 0, stderr: "" });
  expect(restored.stdout).toMatch(/^Restored the store.*\nWhat was there is now state\/skillgate\.db\.before-restore-/);
  expect((await skillgate(["audit", "verify"], { cwd })).stdout).toContain("All is well: 2 records");
  const wrong = await skillgate(["store", "restore", "settings.yaml"], { cwd });
  expect(wrong.exit).toBe(1);
  expect(wrong.stderr).toMatch(/settings\.yaml is not a whole backup: .*Name a file of: store backup/);
  expect((await skillgate(["audit", "verify"], { cwd })).stdout).toContain("All is well: 2 records");
});
