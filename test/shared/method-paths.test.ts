import { describe, expect, test } from "vitest";

import { formatMethodAccess, isSkillName, splitPath, toDeviceName } from "../../src/shared/names/method-paths.ts";

describe("names devices [O3]", () => {
  test.each([
    ["Living Room PC", "living_room_pc"],
    ["John's Laptop", "johns_laptop"],
    ["Büro-Computer", "buro_computer"],
    ["  --a__b  ", "a_b"],
    ["ﬁle ①", "file_1"],
    ["en–dash", "en_dash"],
    ["日本", ""],
    ["../../etc", "etc"],
    ["x".repeat(1_000), "x".repeat(64)],
  ])("%j → %j", (name, device) => {
    expect(toDeviceName(name)).toBe(device);
  });
});

test("splits paths at the name of the method, and writes them as code [O3]", () => {
  expect(splitPath("MathSkill.add")).toEqual({ skill: "MathSkill", method: "add" });
  expect(splitPath("living_room_pc.MusicSkill.play")).toEqual({ skill: "living_room_pc.MusicSkill", method: "play" });
  expect(splitPath("MathSkill")).toEqual({ skill: "MathSkill", method: "" });
  expect(formatMethodAccess("MathSkill.add")).toBe("device.MathSkill.add");
  expect(formatMethodAccess("hub.MathSkill.add")).toBe("devices.hub.MathSkill.add");
  expect(formatMethodAccess("budget")).toBe("device.budget");
});

test.each(["Hub.MathSkill", "hub.then", "hub.", ".MathSkill", "a.b.C", "hub.a b", "_x.Math"])(
  "refuses the skill name %j [O3]",
  (name) => {
    expect(isSkillName(name)).toBe(false);
  },
);
