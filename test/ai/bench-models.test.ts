// @module-tag rest

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

interface Played {
  readonly task: string;
  readonly turns: number;
  readonly maxTurns: number;
  readonly processed: number;
  readonly refusals: number;
  readonly isRight: boolean;
}

async function measure(...options: readonly string[]): Promise<Readonly<Record<string, readonly Played[]>>> {
  const args = ["test/bench/models.mjs", "--json", ...options];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 20 });
  return JSON.parse(stdout) as Readonly<Record<string, readonly Played[]>>;
}

const mean = (played: readonly Played[] = [], key: "turns" | "processed"): number =>
  played.reduce((sum, each) => sum + each[key], 0) / played.length;

test("recorded models solve every task in at most 2.2 turns with Skillgate [D4]", { timeout: 120_000 }, async () => {
  const ways = await measure();
  const { Skillgate: whole = [], "Skillgate, texts cut at 2,048": cut = [], "plain tool calls": plain = [] } = ways;
  expect([whole, cut, plain].map(({ length }) => length)).toEqual([8, 8, 8]);
  expect(Object.values(ways).flatMap((played) => played.filter(({ isRight }) => !isRight))).toEqual([]);
  expect([...whole, ...cut].filter(({ turns, maxTurns }) => turns > maxTurns)).toEqual([]);
  expect([...whole, ...cut].filter(({ refusals }) => refusals > 0)).toEqual([]);
  expect(mean(whole, "turns")).toBeLessThanOrEqual(2.2);
  expect(mean(cut, "turns")).toBeLessThanOrEqual(3);
});

test("the turns of recorded models depend on the catalog [D4]", { timeout: 120_000 }, async () => {
  const { Skillgate: played = [] } = await measure("--without-catalog", "--only-skillgate");
  expect(played.filter(({ turns, maxTurns }) => turns > maxTurns).map(({ task }) => task)).toEqual([
    "types of results",
    "catalog on the page",
    "awkward parameters",
  ]);
});
