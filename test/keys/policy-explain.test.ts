// @module-tag rest

import { expect, test } from "vitest";

import { MATH_SKILL, project, skillgate } from "../surfaces/cli/command.ts";

test(
  "explains the decision for a stored key, with its permissions, scopes and roles [P1, P4]",
  { timeout: 180_000 },
  async () => {
    const cwd = project({
      "skills/math.js": MATH_SKILL,
      "settings.yaml": "store: { dir: state }\n",
      "policies/tools.yaml": "MathSkill.pay: { required_scopes: [money:send] }\n",
      "policies/roles.yaml": "payer: [money:*]\n",
    });
    const run = (...args: readonly string[]) => skillgate(args, { cwd });
    await run("keys", "create", "ada", "--invoke", "MathSkill.pay");
    await run("keys", "create", "bob", "--invoke", "MathSkill.*", "--role", "payer");
    const { id } = JSON.parse((await run("keys", "show", "bob", "--json")).stdout) as { readonly id: string };
    const explain = async (...args: readonly string[]) => {
      const { stdout, stderr } = await run("policy", "explain", ...args, "--json");
      const { caller, decision, reasons } = JSON.parse(stdout) as Record<string, unknown>;
      return { caller, decision, reasons, stderr };
    };
    const lacks = { caller: expect.stringMatching(/^key:ada:\w{12}$/), decision: "deny", stderr: "" };
    expect(await explain("MathSkill.pay", "--caller", "ada")).toMatchObject({
      ...lacks,
      reasons: expect.arrayContaining([
        expect.stringMatching(
          /^Refused, because the key ada lacks the scope money:send, which policies\/tools.yaml line 1 requires$/,
        ),
      ]),
    });
    for (const name of ["bob", id, `sg_${id}`, `key:bob:${id}`])
      expect(await explain("MathSkill.pay", "--caller", name)).toMatchObject({
        caller: `key:bob:${id}`,
        decision: "ask",
        stderr: "",
      });
    expect(await explain("MathSkill.add", "--caller", "ada")).toMatchObject({
      decision: "deny",
      reasons: expect.arrayContaining([
        expect.stringMatching(/^Refused, because the key ada has no call:MathSkill.add$/),
      ]),
    });
    // A flag replaces what the key has.
    expect(await explain("MathSkill.pay", "--caller", "ada", "--roles", "payer")).toMatchObject({ decision: "ask" });
    await run("keys", "revoke", "bob");
    expect(await explain("MathSkill.add", "--caller", "bob")).toMatchObject({
      decision: "deny",
      reasons: expect.arrayContaining(["The key is revoked, so it calls nothing"]),
    });
    expect(await explain("MathSkill.add", "--caller", "eve")).toMatchObject({
      caller: "eve",
      decision: "allow",
    });
    const unknown = await run("policy", "explain", "MathSkill.add", "--caller", "eve");
    expect(unknown.stderr).toBe("No key is named eve: this is a caller with call:* and no scope\n");
  },
);
