// Comparing the arguments of a sink with the results of its run: `node test/bench/provenance.mjs`.

import { createResultTexts } from "../../dist/src/router/result-texts.js";
import { median, quantile, table } from "./measure.mjs";

const ROUNDS = 300;
const WORDS = "release build server token customer account north river paper green small about please review".split(
  " ",
);

let seed = 1;
const pick = () => WORDS[(seed = (seed * 48_271) % 2_147_483_647) % WORDS.length] + (seed % 1_000);
const write = (length) => {
  let text = "";
  while (text.length < length) text += `${pick()} `;
  return text.slice(0, length);
};

export function benchProvenance() {
  const results = Array.from({ length: 200 }, () => ({ title: write(60), body: write(5_000) }));
  const rows = [];
  for (const [title, recorded] of [
    ["1 KB against 5 KB of results", results.slice(0, 1)],
    ["1 KB against 1 MB of results", results],
  ]) {
    const texts = createResultTexts("");
    const recordTimes = recorded.map((result) => measure(() => texts.record(result, result)));
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
      const input = { to: write(24), text: write(1_000 - 24) };
      times.push(measure(() => texts.find(input)));
    }
    rows.push([title, median(times), quantile(times, 0.95), median(recordTimes)]);
  }
  table("Provenance, in ms", ["", "check, median", "check, p95", "recording 5 KB"], rows);
}

function measure(work) {
  const since = performance.now();
  work();
  return performance.now() - since;
}

if (process.argv[1] === import.meta.filename) benchProvenance();
