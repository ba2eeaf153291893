// Measures a number of schedules in a new process, and prints JSON: `node --expose-gc schedules-once.mjs 10000`

import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as wait } from "node:timers/promises";

const COUNT = Number(process.argv[2]);
/** Measures no slots, because a million are not due at once. */
const isShort = process.argv.includes("--short");
const DIST = new URL("../../../dist/src/automations/", import.meta.url);

const importedAt = performance.now();
const { createScheduler } = await import(new URL("scheduler.js", DIST).href);
const { findNextSlot, getStartTime, parseSchedule } = await import(new URL("schedule/index.js", DIST).href);
const importMs = performance.now() - importedAt;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const parse = (value) => parseSchedule(value, (why) => new Error(why));

/** The time of the scheduler is ahead of the machine's, so that a slot comes when it is measured. */
let aheadMs = 0;
let onIdle = () => {};
let immediateCount = 0;
const clock = {
  now: () => Date.now() + aheadMs,
  monotonicNow: () => performance.now() + aheadMs,
  setTimer(delayMs, callback) {
    const isImmediate = delayMs === 0;
    let isPending = isImmediate;
    const settle = () => {
      if (isPending) immediateCount--;
      isPending = false;
    };
    if (isImmediate) immediateCount++;
    const timer = setTimeout(() => {
      settle();
      measureWork(callback);
      if (isImmediate && immediateCount === 0) onIdle(performance.now());
    }, delayMs);
    return () => {
      settle();
      clearTimeout(timer);
    };
  },
};

let stopMs = 0;
let workMs = 0;
const zones = Intl.supportedValuesOf("timeZone");
const values = Array.from({ length: COUNT }, (_, index) => createValue(index));

global.gc();
const heapBefore = process.memoryUsage().heapUsed;
const parsedAt = performance.now();
const automations = values.map((value, index) => ({ name: `automation-${index}`, schedule: parse(value) }));
const parseUs = ((performance.now() - parsedAt) / COUNT) * 1_000;

const { ms: computeMs, scheduler } = await measureSetting(automations);
global.gc();
const heapKb = (process.memoryUsage().heapUsed - heapBefore) / 1_024 / COUNT;
const findUs = measureFinding();
const lookUs = measureLooks();
await scheduler.close();
const measured = { importMs, parseUs, computeMs, heapKb, findUs, lookUs, ...(!isShort && (await measureSlots())) };
const rssMb = process.memoryUsage().rss / 2 ** 20;
console.log(JSON.stringify({ ...measured, rssMb, workMs, stopMs, zones: Math.min(zones.length, COUNT) }));

/** Measures slots that are due, and those that were missed in an hour. */
async function measureSlots() {
  const hundred = await measureDue(100);
  const all = await measureDue(COUNT);
  const lastSlot = clock.now() - HOUR_MS;
  const missed = await measureSetting(automations.map((each) => ({ ...each, lastSlot })));
  await missed.scheduler.close();
  return { hundredMs: hundred.ms, allMs: all.ms, slotUs: (all.cpuMs / COUNT) * 1_000, missedMs: missed.ms };
}

/** Schedules as people write them: most by the minute, many once a day in their zone, some by the week or with jitter. */
function createValue(index) {
  const zone = zones[index % zones.length];
  const [minute, hour] = [5 * (index % 12), (index * 7) % 24];
  const kinds = [
    { every: "5m" },
    { cron: "*/5 * * * *", zone },
    { cron: `${minute} ${hour} * * *`, zone },
    { cron: `${minute} ${hour} * * MON-FRI`, zone, jitter: "10m" },
    { cron: `${minute} 8-18 * * *`, zone },
    { cron: `${minute} ${hour} 1 * *`, zone, catchUp: "one" },
  ];
  return kinds[index % kinds.length];
}

/** Measures until the next starts of all automations are known, while it watches the loop. */
async function measureSetting(list) {
  const scheduler = createScheduler({ clock, log: () => {}, onDue: async () => {} });
  return watchLoop(async () => {
    const startedAt = performance.now();
    const idle = new Promise((resolve) => (onIdle = resolve));
    measureWork(() => scheduler.setSchedules(list));
    return { ms: (await idle) - startedAt, scheduler };
  });
}

/** Measures the processor time of work that stops the loop: other processes do not count. */
function measureWork(work) {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  workMs = Math.max(workMs, (user + system) / 1_000);
}

/** Watches the loop only while the scheduler works: measuring stops it, too. */
async function watchLoop(work) {
  await wait(20);
  const stops = monitorEventLoopDelay({ resolution: 1 });
  stops.enable();
  const result = await work();
  await wait(20);
  stops.disable();
  stopMs = Math.max(stopMs, stops.max / 1e6 - 1); // the timer that measures them has a millisecond
  return result;
}

function measureFinding() {
  const now = clock.now();
  const at = performance.now();
  for (const { name, schedule } of automations) getStartTime(schedule, name, findNextSlot(schedule, now));
  return ((performance.now() - at) / COUNT) * 1_000;
}

/** Calls what the timer calls, without its minute. */
function measureLooks() {
  const setTimer = clock.setTimer.bind(clock);
  let look = () => {};
  clock.setTimer = (_delayMs, callback) => {
    look = callback;
    return () => {};
  };
  scheduler.setSchedules(automations);
  for (let n = 0; n < 100; n++) look();
  const rounds = 2_000;
  const at = performance.now();
  for (let n = 0; n < rounds; n++) look();
  const lookUs = ((performance.now() - at) / rounds) * 1_000;
  clock.setTimer = setTimer;
  return lookUs;
}

/**
 * Measures the time between the first and the last call for schedules with one slot, among all others. Each call takes a
 * millisecond, as a store does. The slot is at a minute in which hardly any other schedule has one.
 */
async function measureDue(count) {
  const times = [];
  let cpuBefore;
  const ended = createResolvers();
  const schedule = parse({ cron: "57 * * * *" });
  const due = Array.from({ length: count }, (_, index) => ({ name: `due-${index}`, schedule }));
  const list = [...due, ...automations.slice(count)];
  async function onDue(name) {
    if (!name.startsWith("due-")) return;
    times.push(performance.now());
    if (times.length === 1) cpuBefore = process.cpuUsage();
    if (times.length === count) ended.resolve();
    await wait(1);
  }
  aheadMs = 56 * MINUTE_MS + 55_000 - (Date.now() % HOUR_MS);
  const scheduler = createScheduler({ clock, log: () => {}, onDue });
  await watchLoop(async () => {
    measureWork(() => scheduler.setSchedules(list));
    await ended.promise;
  });
  const { user, system } = process.cpuUsage(cpuBefore);
  await scheduler.close();
  return { ms: times.at(-1) - times[0], cpuMs: (user + system) / 1_000 };
}

function createResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}
