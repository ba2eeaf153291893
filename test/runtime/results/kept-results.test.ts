import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../src/index.ts";
import { type Caller, OWNER } from "../../../src/model/caller.ts";
import { createSessionRuns } from "../../../src/surfaces/mcp/features/session-runs.ts";
import { readResource } from "../../../src/surfaces/mcp/features/resources.ts";

test("returns a stored result only to the caller of its run, in a program and as a resource [S11]", async () => {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, limits: { resultBytes: 1_000 } });
  onTestFinished(() => runtime.close());
  const ada: Caller = { id: "ada", permissions: ["call:*"] };
  const bob: Caller = { id: "bob", permissions: ["call:*"] };
  const outcome = await runtime.run('"x".repeat(3_000)', { caller: ada });
  const uri = /result:\/\/[\w-]+\/\d+/.exec(outcome.text)?.[0] ?? "";
  const inProgram = (caller: Caller) =>
    runtime.run(`return await device.read_result(${JSON.stringify(uri)}, 0, 3)`, { caller });
  const asResource = (caller: Caller) => {
    const offers = {
      resources: [],
      templates: [],
      prompts: new Map(),
      skills: [],
      showSkills: () => {},
      find: () => [],
    };
    const context = { caller, signal: new AbortController().signal, log: () => {}, progress: () => {} };
    return readResource(
      `${uri}?length=3`,
      { view: runtime.viewFor(caller), records: createSessionRuns(), offers, hasOwnTools: true },
      context,
    );
  };

  expect(await inProgram(ada)).toMatchObject({ kind: "completed", value: '"xx' });
  expect(await asResource(ada)).toMatchObject({ contents: [{ text: '"xx' }] });

  const absent = `there is no result "${uri}" any more`;
  expect(await inProgram(bob)).toMatchObject({ kind: "failed", error: { code: "CALL_FAILED" } });
  expect((await inProgram(bob)).text).toContain(absent);
  expect((await inProgram(OWNER)).text).toContain(absent);
  await expect(asResource(bob)).rejects.toThrow(`Resource not found: ${uri}`);
});
