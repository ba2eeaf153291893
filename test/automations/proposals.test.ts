import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import type { Caller } from "../../src/model/caller.ts";

let folder: string;
let runtime: Runtime;
let calls: number;

const PROGRAM = "await device.BoardSkill.count()";

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  const board = defineSkill({
    name: "BoardSkill",
    description: "A board",
    methods: { count: { description: "Counts", readOnly: true, run: () => ++calls } },
  });
  const store = join(folder, "state");
  return createRuntime({ cwd: folder, skillsDir: false, skills: [board], store, ...options });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-proposals-"));
  calls = 0;
  runtime = await open({ automations: { proposals: true } });
});
afterEach(async () => {
  await runtime.close();
  await rm(folder, { recursive: true });
});

async function createCaller(name: string): Promise<Caller> {
  const keys = createKeys(await runtime.database());
  await keys.create({ name, permissions: ["call:BoardSkill.*"] });
  const found = await keys.findCaller(name);
  if (found === undefined) throw new Error(`no key ${name}`);
  return found.caller;
}

async function propose(args: Readonly<Record<string, unknown>>, caller?: Caller) {
  const tool = runtime.tools(caller === undefined ? {} : { caller }).find(({ name }) => name === "propose_automation");
  return tool?.execute({ name: "counter", description: "Counts", program: PROGRAM, ...args });
}

const getFile = (name: string): string => join(folder, "automations", `${name}.yaml`);

test("a proposal of a model runs only after a person has accepted it, with the key that the person gives", async () => {
  const caller = await createCaller("model");
  await createCaller("counter-key");
  expect(await propose({ schedule: { every: "5m" } }, caller)).toEqual({
    isError: false,
    text: "Proposed counter, which calls BoardSkill.count (read). It does not run until a person accepts it: skillgate automation accept counter",
    value: { name: "counter", calls: [{ path: "BoardSkill.count", effect: "read" }] },
  });
  const { automations } = runtime;
  expect(existsSync(getFile("counter"))).toBe(false);
  expect(calls).toBe(0);
  expect(await automations.get("counter")).toMatchObject({ state: "proposed", by: caller.id });
  await expect(automations.run("counter")).rejects.toMatchObject({ code: "AUTOMATION_HELD" });
  await expect(automations.pause("counter")).rejects.toMatchObject({ code: "AUTOMATION_HELD" });
  await expect(automations.resume("counter")).rejects.toMatchObject({ code: "AUTOMATION_HELD" });
  expect(await automations.offer("counter")).toMatchObject({
    flaw: expect.stringContaining("there is no key counter"),
  });
  await expect(automations.accept("counter")).rejects.toMatchObject({ code: "AUTOMATION_HELD" });
  const offer = await automations.offer("counter", { key: "counter-key" });
  expect(offer).toMatchObject({ proposedBy: caller.id, flaw: undefined });
  const { digest } = offer;
  await expect(automations.accept("counter", { digest })).rejects.toMatchObject({ code: "AUTOMATION_HELD" });
  expect(await automations.accept("counter", { digest, key: "counter-key" })).toMatchObject({ state: "enabled" });
  expect(readFileSync(getFile("counter"), "utf8")).toBe(offer.text);
  expect(await automations.whenEnded(await automations.run("counter"))).toMatchObject({ state: "completed" });
  expect(calls).toBe(1);
});

test("refuses what cannot be accepted, and names what is wrong", async () => {
  const caller = await createCaller("model");
  const errors: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ program: "await device.BoardSkill.cuont()" }, "its program is refused at line 1"],
    [{ name: "No Name" }, "cannot be its name"],
    [{ schedule: { cron: "0 9 * * *" } }, "schedule has no zone"],
    [{ webhook: { verify: "github", secrets: ["plain text"] } }, "a secret must not be in the file"],
    [{ description: "x".repeat(70_000) }, "at most 65536 are allowed"],
    [{ program: 5 }, "program"],
  ];
  for (const [args, message] of errors)
    expect(await propose(args, caller), message).toMatchObject({
      isError: true,
      text: expect.stringContaining(message),
    });
  runtime.secrets.add(["sk-very-secret-1"]);
  expect(await propose({ program: '"sk-very-secret-1"' }, caller)).toMatchObject({
    isError: true,
    text: expect.stringContaining("it contains a secret"),
  });
  expect(await runtime.automations.list()).toEqual([]);
});

test("bounds the proposals of a caller and of all, and replaces one of the same name by its caller only", async () => {
  const [first, second] = [await createCaller("first"), await createCaller("second")];
  for (let at = 0; at < 5; at++) expect(await propose({ name: `a${at}` }, first)).toMatchObject({ isError: false });
  expect(await propose({ name: "a5" }, first)).toMatchObject({
    isError: true,
    text: expect.stringContaining("5 proposals of this caller wait for a person already"),
  });
  expect(await propose({ name: "a0", description: "Counts again" }, first)).toMatchObject({ isError: false });
  expect(await propose({ name: "a0" }, second)).toMatchObject({
    isError: true,
    text: expect.stringContaining("there is an automation a0 already"),
  });
  for (let at = 0; at < 3; at++) {
    const caller = await createCaller(`more${at}`);
    for (let each = 0; each < 5; each++) await propose({ name: `b${at}-${each}` }, caller);
  }
  expect(await propose({ name: "b-last" }, second)).toMatchObject({
    isError: true,
    text: expect.stringContaining("20 proposals wait for a person already"),
  });
  expect(await runtime.automations.remove("a0")).toEqual({ name: "a0", files: [], values: 0 });
  expect(await propose({ name: "b-last" }, second)).toMatchObject({ isError: false });
});

test("a proposal does not replace the one of its name that another process accepts at the same moment", async () => {
  await createCaller("counter");
  expect(await propose({})).toMatchObject({ isError: false });
  const { automations } = await runtime.database();
  const person = await open();
  const put = automations.put.bind(automations);
  const putLater = async (...args: Parameters<typeof put>): Promise<boolean> => {
    await person.automations.accept("counter");
    return put(...args);
  };
  Object.assign(automations, { put: putLater });
  expect(await propose({ description: "Counts again" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("there is an automation counter already"),
  });
  await person.close();
  expect(await runtime.automations.get("counter")).toMatchObject({ state: "enabled", description: "Counts" });
});

test("offers the tool only with the setting", async () => {
  const other = await open();
  try {
    const names = (each: Runtime): readonly string[] => each.tools().map(({ name }) => name);
    expect(names(runtime)).toContain("propose_automation");
    expect(names(other)).not.toContain("propose_automation");
    const proposal = { name: "counter", description: "Counts", program: PROGRAM };
    await expect(other.automations.propose(proposal)).rejects.toMatchObject({
      code: "AUTOMATION_HELD",
      message: expect.stringContaining("automations.proposals: true"),
    });
  } finally {
    await other.close();
  }
});
