import { afterAll, describe, expect, test } from "vitest";

import { createRuntime, defineSkill, type Outcome } from "../../src/index.ts";
import { ADD } from "../support/math-skill.ts";
import { createRemoteSkill } from "../support/remote-skill.ts";

const runtime = await createRuntime({
  skillsDir: false,
  typecheck: false,
  skills: [
    createRemoteSkill("living_room_pc.MusicSkill"),
    createRemoteSkill("hub.MusicSkill"),
    defineSkill({ name: "MathSkill", description: "Computes", methods: { add: ADD } }),
  ],
});
afterAll(() => runtime.close());

const caller = { id: "ada", permissions: ["call:living_room_pc.*", "see:hub.*"] };

describe("calls the skill of another machine [O3]", () => {
  test.each([
    ["dots", 'devices.living_room_pc.MusicSkill.play("a")'],
    ["brackets", 'devices["living_room_pc"].MusicSkill["play"]("a")'],
    ["the name of the machine", 'devices["Living Room PC"].MusicSkill.play("a")'],
    ["device", 'device.living_room_pc.MusicSkill.play("a")'],
    ["an alias of devices", 'const d = devices; d.living_room_pc.MusicSkill.play("a")'],
    ["an alias of the machine", 'const pc = devices.living_room_pc; pc.MusicSkill.play("a")'],
    ["destructuring", 'const { living_room_pc: { MusicSkill } } = devices; MusicSkill.play("a")'],
    ["another style", 'devices.living_room_pc.music_skill.play("a")'],
    ["a test", 'devices.living_room_pc ? devices.living_room_pc.MusicSkill.play("a") : null'],
  ])("%s", async (_, source) => {
    const outcome = await runtime.run(source, { caller });
    expect(outcome).toMatchObject({
      kind: "completed",
      value: "living_room_pc.MusicSkill plays a",
      calls: [{ skill: "living_room_pc.MusicSkill", method: "play", outcome: "ok" }],
    });
  });
});

async function getCode(source: string): Promise<string | undefined> {
  const outcome: Outcome = await runtime.run(source, { caller });
  return outcome.kind === "refused" ? outcome.violations[0]?.code : outcome.kind;
}

test.each([
  ["devices.kitchen.MusicSkill.play('a')", "DEVICE_UNKNOWN"],
  ["devices.living_room_pc.VideoSkill.play('a')", "SKILL_UNKNOWN"],
  ["devices.living_room_pc.MusicSkill.pause()", "METHOD_UNKNOWN"],
  ["devices.living_room_pc.MusicSkill.play(1)", "ARGUMENTS_INVALID"],
  ["devices.hub.MusicSkill.play('a')", "PERMISSION_MISSING"],
  ["print(devices)", "DEVICE_DYNAMIC"],
  ["devices.living_room_pc()", "DEVICE_DYNAMIC"],
  ["const name = 'p' + 1; devices[name].MusicSkill.play('a')", "DEVICE_DYNAMIC"],
  ["devices.living_room_pc = {}", "DEVICE_READONLY"],
])("refuses %s [O3, S5]", async (source, code) => {
  expect(await getCode(source)).toBe(code);
});

test("keeps remote methods apart from local ones with the same name [O3, P2]", async () => {
  const local = { id: "bob", permissions: ["call:MusicSkill.*"] };
  const refused = await runtime.run('devices.living_room_pc.MusicSkill.play("a")', { caller: local });
  expect(refused).toMatchObject({ kind: "refused", violations: [{ code: "GLOBAL_UNKNOWN" }] });
  await expect(runtime.call("living_room_pc.MusicSkill.play", { song: "a" }, { caller: local })).rejects.toMatchObject({
    code: "METHOD_UNKNOWN",
  });
});

test("declares, describes and finds remote methods by their path [O3, D2, D3, D5]", () => {
  expect(runtime.declarations(["hub.MusicSkill"])).toBe(
    `declare const devices: {
  hub: {
    /** Plays music */
    MusicSkill: {
      /** Plays a song */
      play(song: string): Promise<string>;
      play(args: { song: string }): Promise<string>;
    };
  };
};
`,
  );
  expect(runtime.describe("devices.hub.MusicSkill.play")).toMatchObject({
    kind: "method",
    example: 'await devices.hub.MusicSkill.play("<song>")',
  });
  expect(runtime.search("play a song in the living room").results[0]?.path).toBe("living_room_pc.MusicSkill.play");
});

test("checks the types of remote results [O3]", { tags: "rest" }, async () => {
  const typed = await createRuntime({
    skillsDir: false,
    typecheck: true,
    skills: [createRemoteSkill("hub.MusicSkill")],
  });
  const run = (): Promise<Outcome> => typed.run('const text = await devices.hub.MusicSkill.play("a"); text.titel');
  // The compiler may still be loading.
  await expect
    .poll(run, { interval: 100, timeout: 50_000 })
    .toMatchObject({ kind: "refused", violations: [{ code: "MEMBER_UNKNOWN" }] });
  await typed.close();
});
