// Discrete events: many schedules whose slots come at one moment, in processes with one store, with measured times:
// `node test/bench/automations/simulation.mjs`, after a build.

import { quantile, table } from "../measure.mjs";

const { StartHeap } = await import(
  new URL("../../../dist/src/automations/scheduler/start-heap.js", import.meta.url).href
);

const EXECUTORS = 100;
/** Calls of `onDue` at the same time, in one process. */
const CALLS = 32;
/** The occurrence and the last slot of the automation. */
const SLOT_COMMITS = 2;
/** Its begin, three of a run with one effect, and its end. */
const RUN_COMMITS = 5;
/** A slot that is planned later has been missed. */
const GRACE_MS = 60_000;

/** Processor time to plan and call for a slot, from `npm run bench:automations`; the others from docs/machines.md. Milliseconds. */
const MEASURED = { plan: 0.04, executor: 4.04, commit: 0.17, commitShare: 0.021 };

const LOADS = [
  { slots: 100, processes: 1 },
  { slots: 10_000, processes: 1 },
  { slots: 10_000, processes: 3 },
  { slots: 100_000, processes: 1 },
  { slots: 100_000, processes: 3 },
  { slots: 100_000, processes: 3, jitterMs: 600_000 },
  { slots: 300_000, processes: 1 },
  { slots: 300_000, processes: 3 },
  { slots: 300_000, processes: 3, jitterMs: 3_600_000 },
];

/** Prints when the slots of each load are stored, and when their runs have ended. */
export function printSimulation(times = MEASURED) {
  const rows = LOADS.map((load) => {
    const { stored, ended, missed, storeMs } = simulate(load, times);
    const seconds = (list, share) => (quantile(list, share) ?? 0) / 1_000;
    const jitter = load.jitterMs === undefined ? "" : `, jitter ${load.jitterMs / 60_000}m`;
    const name = `${load.slots} slots, ${load.processes} ${load.processes === 1 ? "process" : "processes"}${jitter}`;
    return [
      name,
      seconds(stored, 0.5),
      seconds(stored, 1),
      seconds(ended, 0.5),
      seconds(ended, 1),
      missed,
      storeMs / 1_000,
    ];
  });
  const columns = ["", "stored, median s", "the last, s", "ended, median s", "the last, s", "missed", "store busy, s"];
  table(`Simulation: slots of one moment, ${EXECUTORS} executors; seconds after the start of each slot`, columns, rows);
}

/** Simulates one moment with many slots, until all their runs have ended. */
export function simulate({ slots, processes, jitterMs = 0 }, times) {
  const events = new StartHeap();
  const store = createServer();
  const executors = Array.from({ length: EXECUTORS }, createServer);
  const starts = Array.from({ length: slots }, (_, slot) => Math.floor((jitterMs * slot) / slots));
  const state = new Uint8Array(slots); // 1 once it is stored
  const result = { stored: [], ended: [], missed: 0, storeMs: 0 };
  let now = 0;
  const after = (ms, work) => events.add({ at: now + ms, value: work });

  function commit(count, then) {
    if (count === 0) return then();
    result.storeMs += times.commitShare;
    const rest = times.commit - times.commitShare;
    const doneAt = store.serve(now, times.commitShare) + rest;
    after(doneAt - now, () => commit(count - 1, then));
  }

  /** The loop of a process plans slots in their order; calls wait for one of the free places. */
  function openProcess() {
    const waiting = [];
    let first = 0;
    let calls = 0;
    let next = 0;
    const call = () => {
      while (calls < CALLS && first < waiting.length) {
        const slot = waiting[first++];
        calls++;
        commit(SLOT_COMMITS, () => {
          calls--;
          if (state[slot] === 0) begin(slot);
          call();
        });
      }
    };
    const plan = () => {
      if (next === slots) return;
      const slot = next++;
      after(Math.max(0, starts[slot] - now) + times.plan, () => {
        if (now - starts[slot] > GRACE_MS) result.missed++;
        else waiting.push(slot);
        call();
        plan();
      });
    };
    plan();
  }

  function begin(slot) {
    state[slot] = 1;
    result.stored.push(now - starts[slot]);
    const doneAt = executors[slot % EXECUTORS].serve(now, times.executor);
    after(doneAt - now, () => commit(RUN_COMMITS, () => result.ended.push(now - starts[slot])));
  }

  for (let each = 0; each < processes; each++) openProcess();
  for (let item = events.first; item !== undefined; item = events.first) {
    events.removeFirst();
    now = item.at;
    item.value();
  }
  return result;
}

/** Serves one after the other. Returns when a request that comes now has been served. */
function createServer() {
  let freeAt = 0;
  return {
    serve(now, ms) {
      freeAt = Math.max(now, freeAt) + ms;
      return freeAt;
    },
  };
}

if (process.argv[1] === import.meta.filename) printSimulation();
