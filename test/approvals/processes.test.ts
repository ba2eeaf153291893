import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

import { describe, expect, onTestFinished, test } from "vitest";

import { openDatabase, type StoreLocation } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";
import { environment, MATH_SKILL, project, runProcess, skillgate } from "../surfaces/cli/command.ts";

/** A program that makes a call which waits; it prints the id of the question, then the result. */
const WAITING = `
import { createRuntime } from ${JSON.stringify(new URL("../../dist/src/index.js", import.meta.url).href)};
const runtime = await createRuntime({ discover: true, workers: 1, approvals: { wait: true } });
runtime.on("approval", ({ id }) => console.log(id));
console.log(JSON.stringify(await runtime.run(process.argv[2])));
await runtime.close();
`;

const FILES = { "skills/math.js": MATH_SKILL, "settings.yaml": "store: { dir: state }\n", "waiting.mjs": WAITING };

const { kinds } = prepareDatabases();

interface WaitingProgram {
  readonly child: ChildProcess;
  readonly nextLine: () => Promise<string>;
}

function startWaiting(cwd: string, source: string): WaitingProgram {
  const child = spawn(process.execPath, ["waiting.mjs", source], { cwd, env: environment(cwd), stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, nextLine: async () => String((await lines.next()).value) };
}

const PAY = `await device.MathSkill.pay("Ada", 5)`;

describe.each(kinds)("processes on a database of kind %s", (_kind, makeLocation) => {
  function createProject(settings = ""): { readonly cwd: string; readonly location: StoreLocation } {
    const { url } = makeLocation();
    const store = `store: ${JSON.stringify({ dir: "state", url })}\n`;
    const cwd = project({ ...FILES, "settings.yaml": `${store}${settings}` });
    return { cwd, location: { folder: join(cwd, "state"), ...(url !== undefined && { url }) } };
  }

  test("continues a call after a yes on the command line of another process [P6]", { tags: "rest" }, async () => {
    const { cwd } = createProject();
    const { nextLine } = startWaiting(cwd, PAY);
    const id = await nextLine();
    const listed = await skillgate(["approvals", "list", "--json"], { cwd });
    expect(JSON.parse(listed.stdout)).toMatchObject({
      approvals: [{ id, path: "MathSkill.pay", arguments: { name: "Ada", amount: 5 }, isWaiting: true }],
    });
    const shown = await skillgate(["approvals", "show", id], { cwd });
    expect(shown.stdout).toContain('"owner" asks to call MathSkill.pay with\n{\n  "name": "Ada",\n  "amount": 5\n}\n');
    const approved = await skillgate(["approvals", "approve", id], { cwd });
    expect(approved).toMatchObject({
      exit: 0,
      stdout: `Approved request ${id}: MathSkill.pay for owner. The call continues\n`,
    });
    expect(JSON.parse(await nextLine())).toMatchObject({ kind: "completed", value: "paid 5 to Ada" });
    const again = await skillgate(["approvals", "deny", id], { cwd });
    expect(again.exit).toBe(1);
    expect(again.stderr).toContain(`request ${id} was approved by "owner" (APPROVAL_CLOSED)`);
  });

  test("fails a call after a no on the command line of another process [P6]", { tags: "rest" }, async () => {
    const { cwd } = createProject();
    const { nextLine } = startWaiting(cwd, PAY);
    const id = await nextLine();
    expect(await skillgate(["approvals", "deny", id], { cwd })).toMatchObject({ exit: 0 });
    expect(JSON.parse(await nextLine())).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
  });

  test(
    "closes the question of a process that was killed, at the next start, if the run has no record [P6]",
    { tags: "rest" },
    async () => {
      const { cwd, location } = createProject("runs: { record: off }\n");
      const { child, nextLine } = startWaiting(cwd, PAY);
      const id = await nextLine();
      child.kill("SIGKILL");
      await once(child, "exit");
      const answered = await skillgate(["approvals", "approve", id], { cwd });
      expect(answered.exit).toBe(1);
      expect(answered.stderr).toContain(`request ${id} belongs to a process that has ended (APPROVAL_CLOSED)`);
      await using database = await openDatabase(location);
      expect(await database.approvals.get(id)).toMatchObject({ state: "orphaned", usedAt: null });
    },
  );
});

test(
  "ends a run without a terminal with exit code 4, says how to approve it, and uses the yes once [P6]",
  { tags: "rest" },
  async () => {
    const cwd = project(FILES);
    const run = (): ReturnType<typeof runProcess> => runProcess(["run", "-e", PAY], { cwd });
    const first = await run();
    expect(first.exit).toBe(4);
    const id = /skillgate approvals approve (\w{10})/.exec(first.stderr)?.[1] ?? "";
    expect(await skillgate(["approvals", "approve", id], { cwd })).toMatchObject({
      exit: 0,
      stdout: `Approved request ${id}: MathSkill.pay for owner. It counts for the next call with the same arguments\n`,
    });
    expect(await skillgate(["run", "-e", PAY.replace("5", "6")], { cwd })).toMatchObject({ exit: 4 });
    expect(await run()).toMatchObject({ exit: 0, stdout: "paid 5 to Ada\n" });
    expect(await run()).toMatchObject({ exit: 4 });
  },
);

test("keeps a yes for always as a row with an expiry, for this method and caller [P6]", { tags: "rest" }, async () => {
  const cwd = project(FILES);
  const { nextLine } = startWaiting(cwd, PAY);
  const id = await nextLine();
  await skillgate(["approvals", "approve", id, "--for", "always"], { cwd });
  expect(JSON.parse(await nextLine())).toMatchObject({ kind: "completed" });
  expect(readFileSync(join(cwd, "policies", "approved.yaml"), "utf8")).toMatch(
    /approved:\n {2}- path: "MathSkill.pay"\n {4}caller: "owner"\n {4}expires: "\d{4}-.*Z"\n {4}by: "owner"\n$/,
  );
  expect(await skillgate(["run", "-e", PAY.replace("5", "6")], { cwd })).toMatchObject({
    exit: 0,
    stdout: "paid 6 to Ada\n",
  });
  const explained = await skillgate(["policy", "explain", "MathSkill.pay"], { cwd });
  expect(explained.stdout).toMatch(/Approved for "owner" until .* in policies\/approved.yaml, line 3/);
});

test("names the requests that exist when the id is unknown [P6, O1]", async () => {
  const cwd = project(FILES);
  const { exit, stderr } = await skillgate(["approvals", "approve", "nope"], { cwd });
  expect(exit).toBe(5);
  expect(stderr).toContain("Unknown approval request");
});

test("names no command that approves a call if the store is in memory, where no other process sees it [P6]", async () => {
  const cwd = project(FILES);
  const args = ["run", "-e", PAY];
  expect((await skillgate(args, { cwd })).stderr).toContain("Approve it with: skillgate approvals approve ");
  const hidden = resolve("test/fixtures/store/hide-sqlite.cjs");
  const { exit, stderr } = await runProcess(args, { cwd, env: { NODE_OPTIONS: `--require ${hidden}` } });
  expect(exit).toBe(4);
  expect(stderr).toContain("Approve it at a terminal, or with --yes");
  expect(stderr).toContain("The store is in memory and ends with this process");
  expect(stderr).not.toContain("skillgate approvals");
});
