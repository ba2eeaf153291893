import { expect, test } from "vitest";

import { createIntake, type IntakeClock } from "../../../src/automations/webhook/intake.ts";

/** A clock whose time passes only in waits. */
function createClock(): IntakeClock & { time: number } {
  const clock = {
    time: 0,
    now: () => clock.time,
    wait: async (ms: number) => void (clock.time += ms),
  };
  return clock;
}

test("runs begin at once while no delivery is received", async () => {
  const clock = createClock();
  await createIntake(clock).whenQuiet();
  expect(clock.time).toBe(0);
});

test("runs wait until no delivery was received for 50 ms", async () => {
  const clock = createClock();
  const intake = createIntake(clock);
  let end = (): void => {};
  const received = intake.receive(() => new Promise<void>((resolve) => (end = resolve)));
  let isReady = false;
  const ready = intake.whenQuiet().then(() => (isReady = true));
  while (clock.time < 1_000) await Promise.resolve();
  expect(isReady).toBe(false);
  const endedAt = clock.time;
  end();
  await Promise.all([received, ready]);
  expect(clock.time - endedAt).toBeGreaterThanOrEqual(50);
  expect(clock.time - endedAt).toBeLessThanOrEqual(200);
});

test("deliveries that never end hold runs back for 10 s, and later for a fifth of the time", async () => {
  const clock = createClock();
  const intake = createIntake(clock);
  void intake.receive(() => new Promise<void>(() => {}));
  await intake.whenQuiet();
  expect(clock.time).toBe(10_000);
  let waited = 0;
  const begins = 200;
  for (let run = 0; run < begins; run++) {
    clock.time += 1_000;
    const before = clock.time;
    await intake.whenQuiet();
    waited += clock.time - before;
  }
  expect(waited / begins).toBeGreaterThan(200);
  expect(waited / begins).toBeLessThanOrEqual(300);
});

test("ends its waits when it is closed", async () => {
  const clock = createClock();
  const intake = createIntake(clock);
  void intake.receive(() => new Promise<void>(() => {}));
  const ready = intake.whenQuiet();
  intake.close();
  await ready;
  expect(clock.time).toBeLessThanOrEqual(100);
});
