import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../src/index.ts";
import { temporaryFolder, writeFiles } from "./call.ts";

const BROKEN = `import { parse } from "./lib/parse.ts";

interface Unused { readonly text: string }

/** Fail deep inside. */
export function fail(text: string): number {
  return parse(text);
}

export function drop(): void {
  setImmediate(() => void Promise.reject(new RangeError("not awaited")));
}

export async function later(): Promise<void> {
  setTimeout(() => { throw new RangeError("too late"); }, 0);
  await new Promise(() => {});
}
`;

const PARSE = `type Text = string;

export function parse(text: Text): number {
  throw new TypeError(\`cannot parse \${text}\`);
}
`;

async function openBroken() {
  const cwd = await temporaryFolder();
  await writeFiles(join(cwd, "skills"), { "broken/skill.ts": BROKEN, "broken/lib/parse.ts": PARSE });
  const heard: string[] = [];
  const log = (level: string, text: string, path?: string): unknown => heard.push(`${level} ${path}: ${text}`);
  const runtime = await createRuntime({ cwd, skillsDir: "skills", log });
  return { cwd, runtime, heard };
}

test("gives owners the source-mapped stack of an error as its cause, and models only its message [L10]", async () => {
  const { cwd, runtime, heard } = await openBroken();
  onTestFinished(() => runtime.close());
  const stack = [
    "TypeError: cannot parse x",
    `    at parse (${cwd}/skills/broken/lib/parse.ts:4:9)`,
    `    at fail (${cwd}/skills/broken/skill.ts:7:10)`,
  ].join("\n");
  const error: unknown = await runtime.call("BrokenSkill.fail", { text: "x" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ message: "cannot parse x", cause: { name: "TypeError", message: "cannot parse x" } });
  expect(error instanceof Error && error.cause instanceof Error && error.cause.stack).toBe(stack);
  const outcome = await runtime.run('device.BrokenSkill.fail("x")');
  if (outcome.kind !== "failed") throw new TypeError("the run has not failed");
  expect(outcome.error.cause?.stack).toBe(stack);
  expect(JSON.stringify(outcome)).not.toContain(cwd);
  expect(JSON.stringify(outcome)).not.toContain("parse.ts");
  const caught = await runtime.run(
    'try { device.BrokenSkill.fail("x") } catch (e) { return JSON.stringify([e, e.stack, e.cause]) }',
  );
  expect(JSON.stringify(caught)).not.toContain("parse.ts");
  expect(heard).toEqual(Array(3).fill(`error BrokenSkill.fail: ${stack}`));
});

test("gives the stack of a failure outside of its call [L10]", async () => {
  const { cwd, runtime } = await openBroken();
  onTestFinished(() => runtime.close());
  await expect(runtime.call("BrokenSkill.later", {})).rejects.toMatchObject({
    message: 'Cannot complete the call: "BrokenSkill.later" failed outside of its call: too late (CALL_FAILED)',
    cause: { cause: { stack: expect.stringContaining(`${cwd}/skills/broken/skill.ts:15:`) } },
  });
});

test("names the skill and the file of a failure after its call [L10]", async () => {
  const { cwd, runtime, heard } = await openBroken();
  onTestFinished(() => runtime.close());
  await runtime.call("BrokenSkill.drop", {});
  await expect
    .poll(() => heard.join("\n"))
    .toMatch(
      /^error undefined: BrokenSkill \(broken\/skill\.ts\) failed outside of any call: RangeError: not awaited\n/,
    );
  expect(heard.join("\n")).toContain(`(${cwd}/skills/broken/skill.ts:11:`);
});
