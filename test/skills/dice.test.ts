import { expect, test } from "vitest";
import { DiceSkill } from "../../skills/dice.ts";

test.each([
  ["1d20+5", [12], "Rolled 1d20+5: **17**"],
  ["d20", [12], "Rolled 1d20: **12**"],
  ["d20+5", [12], "Rolled 1d20+5: **17**"],
  ["1d20-5", [3], "Rolled 1d20-5: **-2**"],
  ["1d20kh1", [9], "Rolled 1d20kh1: **9**"],
  ["2d6", [3, 5], "Rolled 2d6: [3, 5] = **8**"],
  ["2d6+3", [3, 5], "Rolled 2d6+3: [3, 5] +3 = **11**"],
  ["2d6-3", [3, 5], "Rolled 2d6-3: [3, 5] -3 = **5**"],
  ["2d6+0", [3, 5], "Rolled 2d6+0: [3, 5] = **8**"],
  ["4d6kh3", [6, 4, 3, 2], "Rolled 4d6kh3: [6, 4, 3, 2] → kept [6, 4, 3] = **13**"],
  ["4d6kh3", [2, 6, 3, 4], "Rolled 4d6kh3: [2, 6, 3, 4] → kept [6, 4, 3] = **13**"],
  ["2d20kl1-1", [15, 4], "Rolled 2d20kl1-1: [15, 4] → kept [4] -1 = **3**"],
  ["3d10kl2", [10, 9, 1], "Rolled 3d10kl2: [10, 9, 1] → kept [1, 9] = **10**"],
  ["2d6kh2", [1, 2], "Rolled 2d6kh2: [1, 2] → kept [2, 1] = **3**"],
  ["  4D6KH3 ", [1, 1, 1, 1], "Rolled 4d6kh3: [1, 1, 1, 1] → kept [1, 1, 1] = **3**"],
])("rolls %s with the dice at %j [B3]", (notation, fallen, text) => {
  expect(falling(...fallen).roll_dice(notation)).toBe(text);
});

test.each([
  ["", "No dice notation provided"],
  ["  ", "No dice notation provided"],
  ["hello", "Invalid dice notation: hello"],
  ["6", "Invalid dice notation: 6"],
  ["2d", "Invalid dice notation: 2d"],
  ["2d6 + 3", "Invalid dice notation: 2d6 + 3"],
  ["2d6+", "Invalid dice notation: 2d6+"],
  ["2d6+3kh1", "Invalid dice notation: 2d6+3kh1"],
  ["-1d6", "Invalid dice notation: -1d6"],
  ["0d6", "Invalid dice notation: 0d6"],
  ["1d0", "Invalid dice notation: 1d0"],
  ["1d1", "Invalid dice notation: 1d1"],
  ["4d6kh0", "Invalid dice notation: 4d6kh0"],
  ["4d6KH5", "Invalid dice notation: 4d6kh5"],
  ["101d6", "Too many dice (max 100)"],
  ["99999999999999999999d6", "Too many dice (max 100)"],
  ["1d1001", "Too many sides (max 1000)"],
])("refuses to roll %j [B3]", (notation, message) => {
  expect(() => falling().roll_dice(notation)).toThrow(new Error(message));
});

test("throws every die once, with its sides [B3]", () => {
  const thrown: number[] = [];
  new DiceSkill((sides) => thrown.push(sides)).roll_dice("3d8kl1");
  expect(thrown).toEqual([8, 8, 8]);
});

test("shows every side of a real die and nothing else [B3]", () => {
  const text = Array.from({ length: 5 }, () => new DiceSkill().roll_dice("100d4")).join();
  const faces = [...text.matchAll(/\[(.*?)\]/g)].flatMap(([, dice = ""]) => dice.split(", "));
  expect(faces).toHaveLength(500);
  expect([...new Set(faces)].toSorted()).toEqual(["1", "2", "3", "4"]);
});

test("rolls at most 100 dice of 1000 sides [B3]", () => {
  expect(new DiceSkill(() => 1000).roll_dice("100d1000")).toMatch(/ = \*\*100000\*\*$/);
});

function falling(...fallen: readonly number[]): DiceSkill {
  const dice = [...fallen];
  return new DiceSkill(() => dice.shift() ?? Number.NaN);
}
