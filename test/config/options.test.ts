import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../src/runtime.ts";
import { readOptions } from "../../src/runtime/settings/index.ts";

test.each([
  [{ skills: "./skills" }, "skills must be a list of skills; make each with defineSkill({ … })"],
  [{ skills: [{}] }, "skills[0] is no skill; make it with defineSkill({ … })"],
  [
    { mcpServers: ["files"] },
    'mcpServers must be an object of servers by name, as in { files: { command: "npx", args: [] } }',
  ],
  [{ skillsDir: true }, "skillsDir must be the path of a folder, or false"],
  [{ onlyServers: "files" }, 'onlyServers must be a list of texts, not "files"'],
  [{ log: "debug" }, "log must be a function"],
  [{ trust: "yes" }, 'trust must be given or recorded, not "yes"'],
  [{ runs: { record: "some" } }, "runs.record must be off, effects or full"],
  [{ runs: { recrd: "off" } }, "runs has the unknown setting recrd; did you mean record?"],
  [{ approvals: { expireSeconds: 0, wait: 1 } }, "approvals.wait must be true, false or programs, not 1"],
  [{ cwd: 5, lazy: "yes" }, 'cwd must be the path of a folder; lazy must be true or false, not "yes"'],
  ["settings.yaml", "the options must be an object, as in createRuntime({ skills: [] })"],
])("refuses the options %j with what to write instead [L1]", async (options, message) => {
  await expect(createRuntime(options as never)).rejects.toMatchObject({
    code: "OPTION_INVALID",
    message: expect.stringContaining(message) as string,
  });
});

test("names the line that calls for a settings file that does not exist, without frames of the package [L1]", async () => {
  const error: unknown = await createRuntime({ settings: "none.yaml" }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "CONFIG_INVALID", facts: { fix: "Write the path of a file that exists" } });
  const [first, ...frames] = String((error as Error).stack).split("\n");
  expect(first).toBe("SkillgateError: Cannot read the configuration: none.yaml: it does not exist (CONFIG_INVALID)");
  expect(frames[0]).toContain("options.test.ts");
  expect(frames.filter((frame) => frame.includes("/src/"))).toEqual([]);
});

test("reads settings and options by the names that they had before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-options-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const settings = join(folder, "settings.yaml");
  writeFileSync(settings, "learning: false\nruns: { learnedPasses: 7 }\n");
  const read = await readOptions({ settings });
  expect(read.problems).toEqual([]);
  expect([read.observations, read.runs.savedPasses]).toEqual([{ requests: false, results: false }, 7]);
  const options = await readOptions({ learning: { results: false }, runs: { learnedPasses: 5 } } as never);
  expect([options.observations, options.runs.savedPasses]).toEqual([{ requests: true, results: false }, 5]);
});
