import { expect, test } from "vitest";

import { completeCode, createRegistry } from "../../src/registry/index.ts";
import { takeShare } from "../support/repetitions.ts";

const registry = createRegistry();
registry.register({
  name: "LampSkill",
  description: "Sets lamps",
  source: "code",
  kind: "code",
  methods: ["set", "setAll"].map((name) => ({
    name,
    description: "Set a lamp",
    input: {
      type: "object",
      properties: {
        room: { type: "string" },
        tone: { enum: ["warm", "very cold", 'o"clock', 3] },
        isOn: { type: "boolean" },
        "odd-name": { anyOf: [{ const: "a" }, { type: "null" }] },
        plan: { type: "object", properties: { hour: { type: "number" }, kind: { enum: ["day", "night"] } } },
        tags: { type: "array", items: { enum: ["x", "y"] } },
      },
      required: ["room", "tone"],
    },
  })),
  invoke: () => Promise.resolve(null),
});

test.each([
  ["dev", ["device."]],
  ["my.dev", []],
  ["device.", ["LampSkill.", "search_skills(", "describe(", "result(", "read_result(", "budget()", "input()"]],
  ["a = device.La", ["LampSkill."]],
  ["device.LampSkill.set", ["set(", "setAll("]],
  ["device.__proto__.", []],
  ["device.LampSkill.set({ ro", ["room: "]],
  ["device.LampSkill.set({ room: 'a', tone: 'warm', ", ["isOn: ", '"odd-name": ', "plan: ", "tags: "]],
  ["device.LampSkill.set({ room: 'a', r", []],
  ["device.LampSkill.set({ tone: ", ['"warm"', '"very cold"', '"o\\"clock"', "3"]],
  ["device.LampSkill.set({ tone: 'very c", ["'very cold'"]],
  ["device.LampSkill.set({ tone: `o", ['`o"clock`']],
  ["device.LampSkill.set({ isOn: t", ["true"]],
  ["device.LampSkill.set({ 'odd-name': ", ['"a"']],
  ["device.LampSkill.set({ plan: { k", ["kind: "]],
  ["device.LampSkill.set({ plan: { hour: 1, kind: 'n", ["'night'"]],
  ["device.LampSkill.set({ tags: ['x', ", ['"x"', '"y"']],
  ["device.LampSkill.set({ constructor: { k", []],
  ["device.LampSkill.set('a', ", ['"warm"', '"very cold"', '"o\\"clock"', "3"]],
  ["device.LampSkill.set('(', 'w", ["'warm'"]],
  ['// ( {\ndevice . LampSkill\n  .set({ room: "a\\"b", ton', ["tone: "]],
  ["other.LampSkill.sit({ ro", []],
])("completes %j [O6]", (code, candidates) => {
  expect(completeCode(code, registry.catalog)[0]).toEqual(candidates);
});

/** Texts whose repetition takes a search of a pattern from each of its places, or opens a bracket at each. */
test.each(takeShare(3, ["a", "(", "{a:", "a.b(", "device.", "device ", '"', "[", "device.LampSkill.set("]))(
  "completes a program with many %j in linear time [O6]",
  { tags: "repeated" },
  (part) => {
    const code = `device.LampSkill.set(${part.repeat((64 << 10) / part.length)} `;
    const startedAt = process.cpuUsage();
    completeCode(code, registry.catalog);
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
  },
);
