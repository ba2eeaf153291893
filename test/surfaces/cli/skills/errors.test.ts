// @module-tag rest

import { expect, test } from "vitest";

import { ended, project, skillgate, start } from "../command.ts";

const FAILING = `/** Fail. */
export function fail(text: string): string {
  throw new TypeError("no " + text);
}
`;

test("shows the stack of an error in a skill to the owner who runs or calls it [L10]", async () => {
  const cwd = project({ "skills/broken.ts": FAILING });
  const stack = "Thrown by the skill: TypeError: no x\n    at fail (skills/broken.ts:3:9)\n";
  const run = await skillgate(["run", "-e", 'device.BrokenSkill.fail("x")'], { cwd });
  expect(run.stderr).toContain(stack);
  const call = await skillgate(["call", "BrokenSkill.fail", "text=x"], { cwd });
  expect(call.stderr).toContain(stack);
  const json = await skillgate(["call", "BrokenSkill.fail", "text=x", "--json"], { cwd });
  expect(json.stdout).not.toContain("broken.ts");
  expect([run.exit, call.exit, json.exit]).toEqual([1, 1, 1]);
});

test("shows the stack in failed examples and tests of skills [L10, L11]", async () => {
  const test = `import { test } from "node:test";
    import { testSkill } from "skillgate/testing";
    const { call } = await testSkill(new URL("broken.ts", import.meta.url));
    test("works", () => call("fail", { text: "y" }));`;
  const example = FAILING.replace("Fail.", 'Fail. @example device.BrokenSkill.fail("x")');
  const cwd = project({ "skills/broken.ts": example, "skills/broken.test.ts": test });
  const { stdout } = await skillgate(["skills", "test"], { cwd });
  expect(stdout).toContain("TypeError: no x\n        at fail (");
  expect(stdout).toContain("TypeError: no y\n        at fail (");
});

test("shows a client of the server the message alone, and the stack in its log [L10, P9]", async () => {
  const cwd = project({ "skills/broken.ts": FAILING });
  const child = start(["serve", "--stdio", "--verbose"], { cwd });
  const send = (message: object): unknown => child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1" };
  const capabilities = {};
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities, clientInfo } });
  send({ method: "notifications/initialized" });
  send({ id: 2, method: "logging/setLevel", params: { level: "debug" } });
  const call = { name: "run_code", arguments: { code: 'device.BrokenSkill.fail("x")' } };
  send({ id: 3, method: "tools/call", params: call });
  let answered = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    answered += chunk.toString();
    if (answered.includes('"id":3')) child.stdin?.end();
  });
  const { stderr } = await ended(child);
  expect(answered).toContain("no x");
  expect(answered).not.toMatch(/broken\.ts|TypeError|project/);
  expect(stderr).toContain(`at fail (${cwd}/skills/broken.ts:3:9)`);
});
