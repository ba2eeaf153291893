import { expect, test } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import { createRuntime } from "../../src/runtime.ts";
import { completePermission } from "../../src/surfaces/cli/input/permission-matches.ts";
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
    `This is the key ada (${prefix}), shown only once. Clients send it as "Authorization: Bearer …"\ncall: Matches no method\n`,
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
  const matches = { see: { methods: 0, first: [], unmatched: ["*"], problem: null, text: "Matches no method" } };
  expect(created).toEqual({ key: expect.stringMatching(/^sg_/), ...facts, matches });
  expect(await keys("list")).toEqual({ keys: [facts] });
  expect(await keys("show", "ada")).toEqual({ ...facts, used: expect.objectContaining({ audit: "empty" }) });
}, 60_000);

const SHOP = `
/** Sells. */
export class ShopSkill {
  /** Add an article. */
  add() {}
  /** Sell an article. */
  sell() {}
}`;

test(
  "says which methods the patterns of a key match, and creates none with --dry-run [P1, O1]",
  { tags: "rest" },
  async () => {
    const cwd = project({ "skills/shop.mjs": SHOP });
    const keys = async (...args: readonly string[]) => skillgate(["keys", ...args], { cwd });
    const permissions = ["call:Shop*", "see:Shp.*", "admin:Read"];
    expect(await keys("create", "ada", "--permission", ...permissions, "--dry-run")).toEqual({
      exit: 0,
      stdout:
        "call: Matches 2 methods: ShopSkill.add, ShopSkill.sell\nsee: Matches no method; did you mean ShopSkill.*?\n",
      stderr: "Nothing was created, because of --dry-run\n",
    });
    expect((await keys("list")).stdout).toContain("There are no keys");
    expect((await keys("create", "ada", "--call", "Shop", "--dry-run")).stderr).toContain(
      "Write Shop.* for all methods",
    );
    const created = await keys("create", "ada", "--call", "ShopSkill.sel", "ShopSkill.add");
    expect(created.stderr).toContain(
      "\ncall: Matches 1 method: ShopSkill.add. No method: ShopSkill.sel; did you mean ShopSkill.sell?\n",
    );
    expect((await keys("create", "ada", "--call", "*", "--dry-run")).stderr).toContain("ada");
    const explained = await skillgate(["policy", "explain", "ShopSkill.add", "--permissions", "call:Shp.*"], { cwd });
    expect(explained.stderr).toContain("call: Matches no method; did you mean ShopSkill.*?");
  },
);

test("creates a key also in a project that cannot be opened [P1]", { tags: "rest" }, async () => {
  const cwd = project({ "policies/tools.yaml": "nonsense" });
  const { exit, stdout, stderr } = await skillgate(["keys", "create", "ada", "--call", "*"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringMatching(KEY) });
  expect(stderr).toContain("Cannot say which methods it matches: ");
});

test.each([
  ["permission", "", ["call:", "see:", "admin:"]],
  ["permission", "S", ["see:"]],
  ["permission", "call:", ["call:*", "call:ShopSkill.*", "call:ShopSkill.add", "call:ShopSkill.sell"]],
  ["permission", "see:shopskill.s", ["see:ShopSkill.sell"]],
  ["permission", "admin:R", ["admin:Read"]],
  ["permission", "coll:", []],
  ["pattern", "ShopSkill.a", ["ShopSkill.add"]],
  ["permissions", "see:*,call:ShopSkill.a", ["see:*,call:ShopSkill.add"]],
] as const)("completes a %s that begins with %j [O1]", async (form, start, candidates) => {
  const shop = defineSkill({
    name: "ShopSkill",
    description: "Sells",
    methods: { add: { description: "Add", run: () => 1 }, sell: { description: "Sell", run: () => 2 } },
  });
  await using runtime = await createRuntime({ skillsDir: false, mcpServers: {}, skills: [shop] });
  expect(await completePermission(start, form, async () => runtime.catalog)).toEqual(candidates);
});

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
