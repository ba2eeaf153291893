// Discrete events: 100 executors and 10,000 runs that wait for a person, with measured times: `node test/bench/scaling/simulation.mjs`.

import { quantile, table } from "../measure.mjs";

const EXECUTORS = 100;
const WAITING = 10_000;
/** Callers that wait with `resume_run` for a run that waits: each reads its run once a second, and after each change. */
const FOLLOWERS = 1_000;
/** Commits of a run with one effect: its record before the effect, the result, and the end with the audit log. */
const COMMITS = 3;
const SECONDS = 20;
const SEED = 20;

/** The times of docs/machines.md, in milliseconds. */
const MEASURED = { front: 0.69, executor: 4.04, trip: 0.2, commit: 0.17, commitShare: 0.021, get: 0.1, look: 1.24 };

/** Arriving runs and answered questions per second. */
const LOADS = [
  { runs: 100, answers: 0 },
  { runs: 500, answers: 0 },
  { runs: 1_000, answers: 0 },
  { runs: 100, answers: 0.1 },
  { runs: 100, answers: 1 },
  { runs: 100, answers: 10 },
  { runs: 100, answers: 100 },
];

/** Prints what happens under each load. */
export function printSimulation(times = MEASURED) {
  const rows = LOADS.map((load) => {
    const { rate, latencies, shares, queue } = simulate(load, times);
    const [bottleneck] = Object.entries(shares).toSorted(([, one], [, other]) => other - one)[0];
    const percent = (share) => `${Math.round(100 * share)} %`;
    const tails = [quantile(latencies, 0.5) ?? "–", quantile(latencies, 0.99) ?? "–"];
    const busy = [shares.front, shares.executors, shares.store].map(percent);
    return [`${load.runs} runs/s, ${load.answers} answers/s`, rate, ...tails, queue, ...busy, bottleneck];
  });
  const columns = ["", "runs/s", "median ms", "p99 ms", "queue", "front", "executors", "store", "busiest"];
  table(
    `Simulation: ${EXECUTORS} executors, ${WAITING} runs that wait, ${FOLLOWERS} callers that wait with them`,
    columns,
    rows,
  );
}

/** Simulates some seconds. A share above 100 % is work that cannot be done in the time. */
export function simulate({ runs, answers }, times) {
  const random = createRandom(SEED);
  const draw = (mean) => -Math.log(1 - random()) * mean;
  const [front, store] = [createServer(), createServer()];
  const executors = Array.from({ length: EXECUTORS }, createServer);
  const looks = executors.map(() => ({ isLooking: false, isStale: false }));
  const latencies = [];
  let open = 0;
  let maxOpen = 0;
  const events = createEvents();
  const until = SECONDS * 1_000;

  function execute(executor, then) {
    front.serve(events, draw(times.front), () =>
      events.after(draw(times.trip), () => executor.serve(events, draw(times.executor), () => commit(COMMITS, then))),
    );
  }

  function commit(count, then) {
    if (count === 0) return then();
    const share = draw(times.commitShare);
    const rest = Math.max(0, times.commit - times.commitShare);
    store.serve(events, share, () => events.after(rest, () => commit(count - 1, then)));
  }

  function arrive() {
    const since = events.now;
    maxOpen = Math.max(maxOpen, ++open);
    execute(executors[Math.floor(random() * EXECUTORS)], () => {
      open--;
      latencies.push(events.now - since);
    });
    events.after(draw(1_000 / runs), arrive);
  }

  /** The answer is stored; each executor reads it with its run, and one continues the run. */
  function answer() {
    commit(1, () => {
      executors.forEach((_, at) => look(at));
      for (let each = 0; each < FOLLOWERS; each++) readRun();
      execute(executors[Math.floor(random() * EXECUTORS)], () => {});
    });
    events.after(draw(1_000 / answers), answer);
  }

  /** Changes during a look lead to one more look. */
  function look(at) {
    const state = looks[at];
    if (state.isLooking) {
      state.isStale = true;
      return;
    }
    Object.assign(state, { isLooking: true, isStale: false });
    store.serve(events, times.look / 2, () =>
      executors[at].serve(events, times.look / 2, () => {
        state.isLooking = false;
        if (state.isStale) look(at);
      }),
    );
  }

  function readRun() {
    store.serve(events, times.commitShare, () => {});
  }

  function poll() {
    readRun();
    events.after(1_000, poll);
  }

  for (let each = 0; each < FOLLOWERS; each++) events.after(random() * 1_000, poll);
  events.after(draw(1_000 / runs), arrive);
  if (answers > 0) events.after(draw(1_000 / answers), answer);
  events.runUntil(until);
  const busiest = Math.max(...executors.map(({ workMs }) => workMs));
  return {
    rate: latencies.length / SECONDS,
    latencies,
    queue: maxOpen,
    shares: { front: front.workMs / until, executors: busiest / until, store: store.workMs / until },
  };
}

/** A server that does one thing after the other. */
function createServer() {
  let freeAt = 0;
  return {
    workMs: 0,
    serve(events, ms, then) {
      this.workMs += ms;
      freeAt = Math.max(freeAt, events.now) + ms;
      events.after(freeAt - events.now, then);
    },
  };
}

/** A queue of events by time, as a binary heap. */
function createEvents() {
  const heap = [];
  const isBefore = (one, other) => heap[one].at < heap[other].at;
  const swap = (one, other) => ([heap[one], heap[other]] = [heap[other], heap[one]]);
  const events = {
    now: 0,
    after(ms, then) {
      heap.push({ at: events.now + ms, run: then });
      for (let at = heap.length - 1; at > 0;) {
        const parent = (at - 1) >> 1;
        if (!isBefore(at, parent)) break;
        swap(at, parent);
        at = parent;
      }
    },
    runUntil(end) {
      while (heap.length > 0 && heap[0].at <= end) {
        const { at, run } = heap[0];
        const last = heap.pop();
        if (heap.length > 0) {
          heap[0] = last;
          sink();
        }
        events.now = at;
        run();
      }
    },
  };
  function sink() {
    for (let at = 0; ;) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (child < heap.length && isBefore(child, first)) first = child;
      if (first === at) return;
      swap(at, first);
      at = first;
    }
  }
  return events;
}

/** The generator mulberry32: numbers from 0 to 1, the same for the same seed. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
}

if (process.argv[1] === import.meta.filename) printSimulation();
