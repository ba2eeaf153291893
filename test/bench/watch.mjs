// Peers are not ours: one that throws, answers wrongly or hangs is said and not measured, the rest of the bench goes on,
// and its exit code is 1. One that is not installed is only said.

import { interleaved } from "./measure.mjs";

const OPEN_MS = 60_000;
const RUN_MS = 10_000;
const RIGHT_ANSWER = 10;
/** No such package; not built; built for another version of Node. */
const NOT_INSTALLED = new Set(["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"]);

/** Opens them all, each `{ run, close }`, and sees that each gives the right answer, as such or as `{ answer, tookMs }`. */
export async function openPeers(peers) {
  const failures = new Map();
  const opened = new Map();
  const jobs = {};
  for (const [name, open] of Object.entries(peers)) {
    try {
      opened.set(name, await within(OPEN_MS, open()));
      jobs[name] = watched(name, opened.get(name), failures);
      await jobs[name]();
    } catch (error) {
      giveUp(name, error, failures);
    }
  }
  return {
    /** Medians of our own jobs and of every peer that gave nothing but right answers. */
    async measure(ours, rounds, batch) {
      const medians = await interleaved({ ...ours, ...jobs }, rounds, batch);
      return Object.fromEntries(Object.entries(medians).filter(([name]) => !failures.has(name)));
    },
    /** Rows for the others. */
    missing: () => [...failures].map(([name, why]) => [name, why, "", ""]),
    close: () => Promise.all([...opened.values()].map((peer) => peer.close())),
  };
}

function watched(name, peer, failures) {
  return async () => {
    if (failures.has(name)) return;
    try {
      const given = await within(RUN_MS, peer.run());
      const answer = given?.answer ?? given;
      if (answer !== RIGHT_ANSWER) throw new Error(`answers ${JSON.stringify(answer)}, wanted ${RIGHT_ANSWER}`);
      return given;
    } catch (error) {
      giveUp(name, error, failures);
    }
  };
}

function giveUp(name, error, failures) {
  const why = NOT_INSTALLED.has(error.code) ? "not installed" : "failed";
  failures.set(name, why);
  console.error(`${why}: ${name} (${error.message.split("\n")[0]})`);
  if (why === "failed") process.exitCode = 1;
}

/** Only for peers that let the event loop turn, as all of them do for this program. */
async function within(ms, promise) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
