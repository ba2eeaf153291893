import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import { listUpcoming } from "../../src/runtime/automations/upcoming.ts";
import { parse } from "./schedule/sample.ts";

let folder: string;
let runtime: Runtime;

const ECHO = defineSkill({
  name: "EchoSkill",
  description: "Echoes",
  methods: { echo: { description: "Echoes", readOnly: true, run: async () => "echo" } },
});

const SOURCE = "device.input();\nreturn await device.EchoSkill.echo();";

async function write(name: string, changes: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const fields = { description: "Echoes a text", key: "echoer", source: SOURCE, ...changes };
  await writeFile(join(folder, "automations", `${name}.yaml`), JSON.stringify(fields));
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-automation-reads-"));
  await mkdir(join(folder, "automations"));
  runtime = await createRuntime({ cwd: folder, skillsDir: false, skills: [ECHO], store: join(folder, "state") });
  await createKeys(await runtime.database()).create({ name: "echoer", permissions: ["call:EchoSkill.*"] });
});
afterEach(async () => {
  await runtime.close();
  await rm(folder, { recursive: true });
});

const READER: Caller = { id: "reader", permissions: ["admin:Read"] };
const ADA: Caller = { id: "ada", permissions: ["call:*"] };

describe("the automations of a runtime", () => {
  test("are found by words and state, those that need a person first, in parts", async () => {
    for (const name of ["a", "b", "c"]) {
      await write(name, { schedule: { every: "5m" } });
      await runtime.automations.accept(name);
    }
    await runtime.automations.pause("b", { reason: "holiday" });
    await write("d");
    await write("e", { cron: 1 });
    const { automations } = runtime;
    const all = await automations.find();
    expect(all.rows.map(({ name, state }) => `${name} ${state}`)).toEqual([
      "d unaccepted",
      "e held",
      "b paused",
      "a enabled",
      "c enabled",
    ]);
    expect(all.states).toEqual({ unaccepted: 1, held: 1, paused: 1, enabled: 2 });
    expect(all.rows.find(({ name }) => name === "b")).toMatchObject({ reason: "holiday", schedule: "every 5m" });
    const part = await automations.find({ limit: 2, offset: 2 });
    expect(part).toMatchObject({ rows: [{ name: "b" }, { name: "a" }], total: 5 });
    expect(await automations.find({ text: "ECHOES enabled", limit: 1 })).toMatchObject({
      rows: [{ name: "a" }],
      total: 2,
      states: { unaccepted: 1 },
    });
    expect(await automations.find({ state: "paused" })).toMatchObject({ rows: [{ name: "b" }], total: 1 });
    expect((await automations.find({ text: "nothing has this" })).rows).toEqual([]);
  });

  test("have a next slot while they run, and five in their detail in any state", async () => {
    await write("report", { schedule: { cron: "0 9 * * *", zone: "Europe/Berlin" } });
    await runtime.automations.accept("report");
    const { next, nextSlots, file } = await runtime.automations.get("report");
    expect(nextSlots).toHaveLength(5);
    expect(nextSlots[0]).toBe(next);
    expect(file?.source).toBe(SOURCE);
    await runtime.automations.pause("report");
    const paused = await runtime.automations.get("report");
    expect(paused.next).toBeUndefined();
    expect(paused.nextSlots).toEqual(nextSlots);
    await write("report", { schedule: "daily" });
    const unusable = await runtime.automations.get("report");
    expect(unusable).toMatchObject({ state: "held", nextSlots: [] });
    expect(unusable.file).toBeUndefined();
  });

  test("have coming slots while they are enabled", async () => {
    for (const name of ["hourly", "often", "off"]) {
      await write(name, { schedule: { every: name === "often" ? "1m" : "1h" } });
      await runtime.automations.accept(name);
    }
    await write("new", { schedule: { every: "1h" } });
    await runtime.automations.pause("off");
    const from = Date.UTC(2026, 10, 30, 9, 30);
    const found = await runtime.automations.upcoming({ from, until: from + 5 * 3_600_000, limit: 3 });
    const slots = [10, 11, 12].map((hour) => ({ automation: "hourly", at: Date.UTC(2026, 10, 30, hour), zone: "UTC" }));
    expect(found).toEqual({
      slots,
      moreCount: 2,
      frequent: [{ automation: "often", at: from + 60_000, zone: "UTC", schedule: "every 1m" }],
      moreFrequentCount: 0,
      isComplete: true,
    });
  });

  test("give the input of an occurrence, and are read only by administrators", async () => {
    await write("report");
    const { automations } = runtime;
    await automations.accept("report");
    const { id } = await automations.whenEnded(await automations.run("report", { input: { text: "a" } }));
    expect(await automations.input("report", id)).toBe('{"text":"a"}');
    await expect(automations.input("report", "other")).rejects.toThrow(/there is no occurrence other/);
    const span = { from: 0, until: 1, limit: 1 };
    for (const read of [
      (caller: Caller) => automations.find({ caller }),
      (caller: Caller) => automations.get("report", { caller }),
      (caller: Caller) => automations.input("report", id, { caller }),
      (caller: Caller) => automations.upcoming({ ...span, caller }),
    ]) {
      await expect(read(ADA)).rejects.toMatchObject({ code: "ADMIN_MISSING" });
      await read(READER);
    }
    const view = runtime.viewFor(READER);
    await expect(view.automations.pause("report")).rejects.toMatchObject({ code: "ADMIN_MISSING" });
    const { review } = await view.automations.offer("report");
    expect(view.automations.seesProgram(review)).toBe(false);
    const reader = runtime.viewFor({ ...READER, permissions: ["admin:Read", "see:EchoSkill.*"] });
    expect(reader.automations.seesProgram(review)).toBe(true);
    expect(reader.automations.seesProgram({ ...review, violations: [{} as never] })).toBe(false);
  });
});

test("counts coming slots beyond the limit, and stops after 100,000", async () => {
  const schedule = parse({ every: "4h" });
  const week = 7 * 86_400_000;
  const list = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `a${at}`, schedule }));
  const some = await listUpcoming(list(100), { from: 0, until: week, limit: 500 });
  expect(some.slots).toHaveLength(500);
  expect(some.slots.map(({ at }) => at)).toEqual(some.slots.map(({ at }) => at).toSorted((a, b) => a - b));
  expect(some).toMatchObject({ moreCount: 100 * 42 - 500, isComplete: true });
  expect((await listUpcoming(list(10_000), { from: 0, until: week, limit: 500 })).isComplete).toBe(false);
  const often = Array.from({ length: 150 }, (_, at) => ({ name: `a${at}`, schedule: parse({ every: "1m" }) }));
  const many = await listUpcoming(often, { from: 0, until: week, limit: 500 });
  expect(many.frequent).toHaveLength(100);
  expect(many).toMatchObject({ slots: [], moreFrequentCount: 50 });
});
