// @module-tag rest

import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { project, skillgate } from "../surfaces/cli/command.ts";

/** The files that docs/skills.md shows, by their names. */
const FILES = Object.fromEntries(
  [...readFileSync("docs/skills.md", "utf8").matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)].map(([, name = "", text]) => [
    name,
    text ?? "",
  ]),
);

test("runs the examples of docs/skills.md unchanged, in each form [L11]", { timeout: 90_000 }, async () => {
  expect(Object.keys(FILES).map((name) => name.replace("skills/", ""))).toEqual([
    "weather.ts",
    "counter.ts",
    "orders.ts",
    "trains.ts",
    "greeter.ts",
    "seats.ts",
    "weather.test.ts",
  ]);
  const cwd = project(FILES);
  symlinkSync(join(process.cwd(), "node_modules"), join(cwd, "node_modules"));
  const [checked, tested, called] = await Promise.all([
    skillgate(["skills", "check"], { cwd }),
    skillgate(["skills", "test"], { cwd }),
    skillgate(["call", "WeatherSkill.temperature", "city=Paris"], { cwd }),
  ]);
  expect(checked.stdout.replaceAll(/\d+ tokens/g, "… tokens")).toBe(
    [
      "✓ CounterSkill  counter.ts  1 method, about … tokens",
      "✓ GreeterSkill  greeter.ts  1 method, about … tokens",
      "✓ OrdersSkill  orders.ts  1 method, about … tokens",
      "✓ SeatsSkill  seats.ts  1 method, about … tokens",
      "✓ TrainsSkill  trains.ts  1 method, about … tokens",
      "✓ WeatherSkill  weather.ts  1 method, about … tokens",
      "",
    ].join("\n"),
  );
  expect({ ...tested, stderr: "" }).toEqual({
    exit: 0,
    stderr: "",
    stdout: [
      '✓ CounterSkill.add  device.CounterSkill.add("apples")',
      '✓ OrdersSkill.place  device.OrdersSkill.place("AB-12", 3)',
      '✓ WeatherSkill.temperature  device.WeatherSkill.temperature("Paris")',
      "✓ weather.test.ts  tells the temperature",
      "4 tests passed",
      "",
    ].join("\n"),
  });
  expect(called.stdout).toBe("21\n");
  const greeted = await skillgate(["run", "-e", 'device.GreeterSkill.greet("Ada")'], { cwd });
  expect(greeted.stdout).toBe("Hello, Ada!\n");
  const left = await skillgate(["run", "-e", 'device.TrainsSkill.departures("Bern")', "--json"], { cwd });
  expect(JSON.parse(left.stdout)).toMatchObject({ value: ["Bern 8:02", "Bern 9:02"] });
  const asked = await skillgate(["call", "SeatsSkill.choose"], { cwd });
  expect(asked.stderr).toContain("The user has chosen no seat");
});

test("passes each shipped skill's own examples, without findings of check [L11]", async () => {
  const cwd = project();
  const skills = join(process.cwd(), "skills");
  const [checked, tested] = await Promise.all([
    skillgate(["skills", "check", "--skills", skills], { cwd }),
    skillgate(["skills", "test", "--skills", skills], { cwd }),
  ]);
  expect(checked.stdout.match(/^[^ ] \w+/gm)).toEqual([
    "✓ CalculatorSkill",
    "✓ DiceSkill",
    "✓ MemorySkill",
    "✓ TimeSkill",
  ]);
  expect(tested).toMatchObject({ exit: 0, stdout: expect.stringMatching(/\n6 tests passed\n$/) });
});
