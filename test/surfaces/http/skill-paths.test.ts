// @module-tag rest

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { LogEntry } from "../../../src/runtime.ts";
import { project } from "../cli/command.ts";
import { oldClient, serve } from "../serving.ts";

const FAILING = `/** Fail. */
export function fail(): void {
  throw new TypeError("no luck");
}
`;

test("shows no path and no stack of a skill to clients, and both to the log [L10, P9]", async () => {
  const cwd = project();
  mkdirSync(join(cwd, "skills/inner"), { recursive: true });
  writeFileSync(join(cwd, "skills/inner/skill.ts"), FAILING);
  const { url, runtime } = await serve({}, { cwd, skillsDir: "skills" });
  const logged: LogEntry[] = [];
  runtime.on("log", (entry) => logged.push(entry));
  const headers = { "content-type": "application/json" };
  const post = async (path: string, body: object): Promise<string> =>
    (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).text();
  const rpc = (method: string, params: object): Promise<string> =>
    post("/rpc", { jsonrpc: "2.0", id: 1, method, params });
  const client = await oldClient(url);
  const code = "device.InnerSkill.fail()";
  const answers = [
    await post("/tools/InnerSkill.fail", {}),
    await rpc("tools/call", { name: "InnerSkill.fail", arguments: {} }),
    await rpc("tools/call", { name: "run_code", arguments: { code } }),
    JSON.stringify(await client.callTool({ name: "run_code", arguments: { code } })),
  ];
  for (const answer of answers) {
    expect(answer).toContain("no luck");
    expect(answer).not.toMatch(/skill\.ts|project|TypeError| at fail/);
    expect(answer).not.toContain(cwd);
  }
  expect(logged.filter(({ text }) => text.includes(`${cwd}/skills/inner/skill.ts:3:9`))).toHaveLength(4);
});
