import { expect, test } from "vitest";

import { project, skillgate } from "../surfaces/cli/command.ts";

const KEY = /^sg_[0-9a-z]{12}_[\w-]{43}\n$/;

test("creates, lists, shows, rotates and revokes a key [P1]", { tags: "rest", timeout: 60_000 }, async () => {
  const cwd = project();
  const keys = async (...args: readonly string[]) => skillgate(["keys", ...args], { cwd });
  expect((await keys("list")).stdout).toBe("There are no keys; create one with: skillgate keys create\n");
  const created = await keys(
    "create",
    "ada",
    "--call",
    "MathSkill.*",
    "TimeSkill.*",
    "--per-minute",
    "60",
    "--max-running",
    "2",
    "--weight",
    "3",
  );
  expect(created).toMatchObject({ exit: 0, stdout: expect.stringMatching(KEY) });
  const prefix = created.stdout.slice(0, 15);
  expect(created.stderr).toBe(
    `This is the key ada (${prefix}), shown only once. Clients send it as "Authorization: Bearer …"\n`,
  );
  const listed = await keys("list");
  expect(listed.stdout).toBe(`ada  ${prefix}  active  call:MathSkill.* call:TimeSkill.*  never used\n`);
  const shown = await keys("show", "ada");
  expect(shown.stdout).toContain(
    "  limits:       60 requests per minute, 2 programs at the same time, 3 times the computing time of others\n",
  );
  for (const { stdout } of [listed, shown]) expect(stdout).not.toContain(created.stdout.trim());
  const rotated = await keys("rotate", "ada", "--overlap", "0");
  expect(rotated.stdout).toMatch(KEY);
  expect(rotated.stdout).not.toBe(created.stdout);
  expect(rotated.stderr).toContain("The old key is no longer valid");
  expect((await keys("revoke", prefix)).stdout).toBe(`Revoked the key ada (${prefix})\n`);
  expect((await keys("revoke", prefix)).stdout).toBe(`The key ada (${prefix}) was already revoked\n`);
  expect((await keys("rotate", "ada")).exit).toBe(2);
});

test("prints keys as JSON without digests, and with times in RFC 3339 [P1]", async () => {
  const cwd = project();
  const keys = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await skillgate(["keys", ...args, "--json"], { cwd })).stdout);
  const created = (await keys("create", "ada", "--read", "*", "--scope", "a", "b", "--expires", "2999-01-31")) as {
    readonly key: string;
  };
  const facts = {
    id: created.key.slice(3, 15),
    name: "ada",
    prefix: created.key.slice(0, 15),
    state: "active",
    permissions: ["see:*"],
    scopes: ["a", "b"],
    roles: [],
    limits: {},
    created: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    lastUsed: null,
    expires: "2999-01-31T00:00:00.000Z",
    revoked: null,
    previousExpires: null,
  };
  expect(created).toEqual({ key: expect.stringMatching(/^sg_/), ...facts });
  expect(await keys("list")).toEqual({ keys: [facts] });
  expect(await keys("show", "ada")).toEqual({ ...facts, used: expect.objectContaining({ audit: "empty" }) });
}, 60_000);

test.each([
  [
    ["show", "bob"],
    5,
    "Unknown key: bob (KEY_UNKNOWN)\nWrite the name or the id of a key that skillgate keys list shows",
  ],
  [["create", "bob"], 2, "a key requires at least one permission"],
  [["create", "bob", "--invoke", "MathSkill"], 2, "Write MathSkill.* for all methods of MathSkill"],
  [["create", "bob", "--permission", "admin:Red"], 2, "Unknown right to administer: Red; did you mean Read"],
  [["create", "bob", "--invoke", "*", "--expires", "2020-01-01"], 2, "is in the past. Write a later time"],
  [["create", "bob", "--invoke", "*", "--expires", "soon"], 2, "It must be a period or a date, as in 90d"],
  [["create", "bob", "--invoke", "*", "--per-hour", "0"], 2, "It must be a whole number from 1"],
  [["rotate", "bob", "--overlap", "a day"], 2, "It must be a period, as in 30m, 12h, 90d or 4w"],
])("ends keys %j with exit code %i and a sentence [P1, O1]", { tags: "rest" }, async (args, exit, sentence) => {
  const ended = await skillgate(["keys", ...args], { cwd: project() });
  expect([ended.exit, ended.stdout]).toEqual([exit, ""]);
  expect(ended.stderr).toContain(sentence);
});
