// @module-tag rest

import { expect, test } from "vitest";

import { MATH_SKILL, project, runProcess, skillgate } from "../command.ts";

const FILES = {
  "skills/math.js": MATH_SKILL,
  "mcp.json": JSON.stringify({ mcpServers: { off: { command: "x", enabled: false } } }),
};

/** Texts that differ between two runs. */
function withoutIds(text: string): string {
  return text.replaceAll(/\b[a-z\d]{10}\b(?= waits)|(?<=approve )[a-z\d]{10}\b/g, "ID").replaceAll(/\d[\d.]* /g, "1 ");
}

// Most tests run commands in their own process. These show that a process ends, prints and reads in the same way.
test.each([
  [0, ["run", "-"], "print('é'); await device.MathSkill.add(1, 2)"],
  [0, ["try"], "1 + 1\n\n2 + 2"],
  [0, ["--help"], ""],
  [0, ["mcp", "get", "off", "--json"], ""],
  [1, ["call", "MathSkill.fail", "why=no luck"], ""],
  [1, ["run", "-e", "print('so far'); null.x"], ""],
  [2, ["rn"], ""],
  [3, ["check", "-e", "fetch('x')", "--json"], ""],
  [4, ["call", "MathSkill.pay", "name=Ada", "amount=5"], ""],
  [5, ["describe", "MathSkill.ad"], ""],
  [6, ["call", "OffMCP.read"], ""],
  [124, ["call", "MathSkill.late"], ""],
] as const)("a process exits with %i for %j, and prints the same as the command [O1]", async (exit, args, input) => {
  const place = { cwd: project({ ...FILES, "settings.yaml": "limts: {}\n" }), input };
  const [inside, outside] = [await skillgate(args, place), await runProcess(args, place)];
  expect(outside.exit).toBe(exit);
  expect(withoutIds(JSON.stringify(outside))).toBe(withoutIds(JSON.stringify(inside)));
});
