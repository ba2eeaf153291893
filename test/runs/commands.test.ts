import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { project, skillgate } from "../surfaces/cli/command.ts";

const SKILL = `
/** Orders of a shop. */
export class OrderSkill {
  /**
   * Refund an order.
   * @param {number} order The order
   */
  refund(order) { return "refunded " + order; }

  /**
   * Sign in.
   * @param {string} key The key
   */
  login(key) { return { session: "session of " + key }; }

  /**
   * Refund a large order.
   * @param {number} order The order
   * @approval user
   */
  ask(order) { return "refunded " + order; }
}
`;

const SETTINGS = "store: { dir: state }\nmcp: {}\nskills: { OrderSkill: { apiKey: tobacco-umbrella-42 } }\n";

interface Listed {
  readonly runs: readonly { readonly id: string; readonly state: string }[];
}

function createProject(): string {
  return project({ "skills/order.js": SKILL, "settings.yaml": SETTINGS });
}

async function run(cwd: string, code: string): Promise<string> {
  await skillgate(["run", "-e", code], { cwd });
  const { runs } = JSON.parse((await skillgate(["runs", "list", "--json"], { cwd })).stdout) as Listed;
  return runs[0]?.id ?? "";
}

const TWO_REFUNDS =
  "const first = await device.OrderSkill.refund(1);\nconst second = await device.OrderSkill.refund(2);\n[first, second]";

test("lists and shows runs, by the beginning of an id [R5]", async () => {
  const cwd = createProject();
  const id = await run(cwd, TWO_REFUNDS);
  const { stdout } = await skillgate(["runs", "list"], { cwd });
  expect(stdout).toMatch(/^[\da-f]{8} {2}completed {2}\S+ \S+ UTC {2}2 calls, 2 effects {2}owner {2}const first = /);
  const shown = await skillgate(["runs", "show", id.slice(0, 8)], { cwd });
  expect(shown.stdout).toContain(`Run ${id} completed\n`);
  expect(shown.stdout).toContain("   1  const first = await device.OrderSkill.refund(1);  ← call 1\n");
  expect(shown.stdout).toMatch(/^ {3}2! {2}OrderSkill\.refund {2}line 2 {2}\d+–\d+ ms {2} *█+ +ok$/m);
  const { timeline } = JSON.parse((await skillgate(["runs", "show", id, "--json"], { cwd })).stdout) as {
    readonly timeline: readonly unknown[];
  };
  expect(timeline).toMatchObject([
    { id: 1, path: "OrderSkill.refund", line: 1, arguments: "[1]", isEffect: true, end: "ok", waits: [] },
    { id: 2, line: 2 },
  ]);
  const unknown = await skillgate(["runs", "show", "ffffffff-0000", "--json"], { cwd });
  expect(unknown.exit).toBe(5);
  expect(unknown.stdout).toContain("runs.record: full");
});

test("repeats a run without its skill, and compares two runs [R5]", { tags: "rest" }, async () => {
  const cwd = createProject();
  const [one, two] = [await run(cwd, TWO_REFUNDS), await run(cwd, TWO_REFUNDS.replace("refund(2)", "refund(3)"))];
  rmSync(join(cwd, "skills/order.js"));
  const replayed = await skillgate(["runs", "replay", one], { cwd });
  expect(replayed).toMatchObject({ exit: 0, stdout: '[\n  "refunded 1",\n  "refunded 2"\n]\n' });
  expect(replayed.stderr).toContain("the outcome is the same");
  const same = await skillgate(["runs", "diff", one, one], { cwd });
  expect(same.stdout).toBe("The runs are the same: 2 calls\n");
  const differing = await skillgate(["runs", "diff", one, two], { cwd });
  expect(differing.stdout).toBe(
    "The first call that differs:\n  call 2, OrderSkill.refund: arguments\n    - [2]\n    + [3]\nLater differences:\n  source\n  text\n",
  );
});

test("exports a run as a test that needs no skill, and that fails after a change [R5]", { tags: "rest" }, async () => {
  const cwd = createProject();
  const id = await run(cwd, TWO_REFUNDS);
  const file = join(cwd, "skills/refunds.test.mjs");
  expect(await skillgate(["runs", "export", id, "--test", file], { cwd })).toMatchObject({ exit: 0 });
  rmSync(join(cwd, "skills/order.js"));
  const passed = await skillgate(["skills", "test"], { cwd });
  expect(passed.stdout).toContain(
    "✓ refunds.test.mjs  repeats: const first = await device.OrderSkill.refund(1);\n1 test passed",
  );
  writeFileSync(file, readFileSync(file, "utf8").replace("refunded 1", "refunded 7"));
  const failed = await skillgate(["skills", "test"], { cwd });
  expect(failed).toMatchObject({ exit: 1 });
  expect(failed.stdout).toContain("REPLAY_DIVERGED");
});

test("masks secrets in what it shows and exports [R5]", { tags: "rest" }, async () => {
  const cwd = createProject();
  const token = "sk-abcdefgh12345678";
  const id = await run(cwd, `(await device.OrderSkill.login("${token}")).session`);
  for (const command of [["show", id], ["show", id, "--json"], ["export", id], ["list"], ["diff", id, id, "--json"]]) {
    const { stdout, exit } = await skillgate(["runs", ...command], { cwd });
    expect([exit, stdout.includes(token)]).toEqual([0, false]);
  }
  const file = join(cwd, "skills/login.test.mjs");
  await skillgate(["runs", "export", id, "--test", file], { cwd });
  expect(readFileSync(file, "utf8")).not.toContain(token);
  expect((await skillgate(["skills", "test"], { cwd })).stdout).toContain("1 test passed");
});

test("refuses to export a run that computes with a secret as a test [R5]", { tags: "rest" }, async () => {
  const cwd = createProject();
  const id = await run(cwd, `const key = "sk-abcdefgh12345678"; await device.OrderSkill.refund(key.length)`);
  const { exit, stderr } = await skillgate(["runs", "export", id, "--test", join(cwd, "a.test.mjs")], { cwd });
  expect(exit).toBe(1);
  expect(stderr).toContain(`with its secrets masked, run ${id} is not the same`);
});
