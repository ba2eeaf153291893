import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createAgent } from "../../src/agent/index.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
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
  [{ polcy: "policy.yaml" }, "createRuntime has no option polcy; did you mean policy?"],
  [{ mcp: { strat: "eager" } }, "mcp has the unknown setting strat; did you mean start?"],
  ["settings.yaml", "the options must be an object, as in createRuntime({ skills: [] })"],
])("refuses the options %j with what to write instead [L1]", async (options, message) => {
  await expect(createRuntime(options as never)).rejects.toMatchObject({
    code: "OPTION_INVALID",
    message: expect.stringContaining(message) as string,
  });
});

test.each<readonly [title: string, use: (runtime: Runtime) => unknown, message: string]>([
  [
    "run",
    (runtime) => runtime.run("1", { permissions: ["see:*"] } as never),
    "a run has no option permissions; use caller, limits,",
  ],
  ["run without an object", (runtime) => runtime.run("1", "owner" as never), "the options of a run must be an object"],
  ["run with null", (runtime) => runtime.run("1", null as never), "the options of a run must be an object"],
  ["run without a text", (runtime) => runtime.run(5 as never), "the program must be a text, not 5"],
  [
    "check",
    (runtime) => runtime.check("1", { calller: { id: "a" } } as never),
    "a run has no option calller; did you mean caller?",
  ],
  [
    "checkTypes without a text",
    (runtime) => runtime.checkTypes({} as never),
    "the program must be a text, not an object",
  ],
  [
    "runs.list",
    (runtime) => runtime.runs.list({ calller: { id: "a" } } as never),
    "runs.list has no option calller; did you mean caller?",
  ],
  [
    "runs.replay",
    (runtime) => runtime.runs.replay("4d7d08e3", { inpt: 1 } as never),
    "runs.replay has no option inpt; did you mean input?",
  ],
  [
    "runs.get",
    (runtime) => runtime.runs.get("4d7d08e3", "owner" as never),
    "the options of runs.get must be an object",
  ],
  [
    "accounts.connect",
    (runtime) => runtime.accounts.connect({ name: "a", ownr: null } as never, []),
    "accounts.connect has no option ownr; did you mean owner?",
  ],
  [
    "automations.remove",
    (runtime) => runtime.automations.remove("a", { Caller: { id: "a" } } as never),
    "automations.remove has no option Caller; did you mean caller?",
  ],
  ["call", (runtime) => runtime.call("A.b", {}, { calller: { id: "a" } } as never), "a run has no option calller"],
  [
    "call without a text",
    (runtime) => runtime.call(undefined as never, {}),
    "the path of a method must be a text, not undefined",
  ],
  ["callAll", (runtime) => runtime.callAll([], { paralel: true } as never), "a run has no option paralel"],
  ["search", (runtime) => runtime.search("a", { limt: 1 } as never), "search has no option limt; did you mean limit?"],
  ["search without a text", (runtime) => runtime.search(["a"] as never), "the query must be a text, not an object"],
  ["index", (runtime) => runtime.index({ calller: 1 } as never), "index has no option calller; did you mean caller?"],
  ["describe", (runtime) => runtime.describe("A.b", { calller: 1 } as never), "describe has no option calller"],
  [
    "declarations",
    (runtime) => runtime.declarations([], { calller: 1 } as never),
    "declarations has no option calller",
  ],
  ["systemPrompt", (runtime) => runtime.systemPrompt({ calller: 1 } as never), "systemPrompt has no option calller"],
  ["briefCatalog", (runtime) => runtime.briefCatalog({ calller: 1 } as never), "briefCatalog has no option calller"],
  ["observed", (runtime) => runtime.observed({ calller: 1 } as never), "observed has no option calller"],
  ["forget", (runtime) => runtime.forget({ pth: "A.b" } as never), "forget has no option pth; did you mean path?"],
  ["validate", (runtime) => runtime.validate("A.b", {}, { calller: 1 } as never), "validate has no option calller"],
  ["tools", (runtime) => runtime.tools({ calller: 1 } as never), "tools has no option calller; did you mean caller?"],
  ["createAgent", (runtime) => createAgent({ runtime, calller: 1 } as never), "createAgent has no option calller"],
])("refuses an unknown option or an argument of another type: %s [L1]", async (_title, use, message) => {
  await using runtime = await createRuntime({ skillsDir: false, typecheck: false });
  await expect((async () => use(runtime))()).rejects.toMatchObject({
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
