import { expect, test } from "vitest";

import { waitForTurn } from "../../../sandbox/host/loop-turn.ts";

/** Computes for longer than one turn may take. */
function compute(): void {
  const end = performance.now() + 8;
  while (performance.now() < end);
}

test("begins at most two pieces of long work in a turn, also those that follow a promise [P4]", async () => {
  let turn = 0;
  const count = (): void => {
    turn++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const turns = await Promise.all(
    Array.from({ length: 20 }, async () => {
      await waitForTurn();
      await Promise.resolve(); // the work is not in the first reaction to the turn
      const begun = turn;
      compute();
      return begun;
    }),
  );
  clearImmediate(counting);
  const counts = turns.map((each) => turns.filter((other) => other === each).length);
  expect(Math.max(...counts)).toBeLessThanOrEqual(2);
});
