// @module-tag repeated

import { expect, test } from "vitest";

import type { Outcome } from "../../../src/index.ts";
import { createRandom } from "../../sandbox/replay/run-record.ts";
import { repetitions, takeShare } from "../../support/repetitions.ts";
import { openShop, type Step, writeFirst, writeNext } from "./history.ts";

const shop = await openShop();

/** How many histories are tried. */
const ROUNDS = repetitions(20, 50, 150);

const METHODS = ["read", "send", "send", "order", "key"];
const ARGUMENTS = ["a", "b", ""];
const ENDS = ["ok", "ok", "ok", "fail", "silent"] as const;

type Random = () => number;

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

function createSteps(length: number, random: Random): readonly Step[] {
  return Array.from({ length }, () => ({
    method: pick(METHODS, random),
    argument: pick(ARGUMENTS, random),
    end: pick(ENDS, random),
  }));
}

/** Repeats a program with some changes. */
function change(steps: readonly Step[], random: Random): readonly Step[] {
  return steps.flatMap((step) => {
    const dice = random();
    if (dice < 0.15) return [];
    if (dice < 0.3) return [...createSteps(1, random), step];
    return dice < 0.4 ? createSteps(1, random) : [step];
  });
}

function countEach(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const isEffect = (name: string): boolean => !/^(?:read|inbox)/.test(name);
const toName = ({ method, argument }: Pick<Step, "method" | "argument">): string => `${method} ${argument}`;

/** Runs the programs one after the other, each of which continues the one before until one completes. */
async function runAll(programs: readonly (readonly Step[])[]): Promise<Outcome> {
  const [first = [], ...others] = programs;
  shop.reached.length = 0;
  shop.plan(first);
  let outcome = await shop.runtime.run(writeFirst(first));
  shop.plan([]);
  for (const [at, steps] of others.entries()) {
    if (outcome.kind !== "failed") break;
    const end = at < others.length - 1 ? '\nthrow new Error("failed again")' : "";
    const run = outcome.continue;
    outcome = await shop.runtime.run(`${writeNext(steps)}${end}`, run === undefined ? {} : { continue: run });
  }
  return outcome;
}

test.each(takeShare(2, [2, 3]))(
  "no effect is made twice by %i programs that correct each other [R4]",
  { tags: "repeated", timeout: 120_000 },
  async (length) => {
    const random = createRandom(length);
    let completed = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const first = createSteps(1 + Math.floor(random() * 6), random);
      const programs = [first];
      while (programs.length < length) programs.push(change(programs.at(-1) ?? [], random));
      const outcome = await runAll(programs);
      if (outcome.kind === "completed") completed++;
      const failed = countEach(first.filter(({ end }) => end === "fail").map(toName));
      const wanted = programs.map((steps) => countEach(steps.map(toName)));
      for (const [name, count] of countEach(shop.reached.filter(isEffect))) {
        const most = Math.max(...wanted.map((counts) => counts.get(name) ?? 0));
        expect(count - (failed.get(name) ?? 0), `${name} of ${JSON.stringify(programs)}`).toBeLessThanOrEqual(most);
      }
    }
    expect(completed).toBeGreaterThan(ROUNDS / 20);
  },
);
