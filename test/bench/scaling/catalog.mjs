// A run and a search in catalogs of 100, 1,000 and 20,000 methods: `node test/bench/scaling/catalog.mjs`, or `npm run bench:scaling`.

import { pathToFileURL } from "node:url";

import { createRuntime, defineSkill } from "../../../dist/src/index.js";
import { interleaved, table } from "../measure.mjs";

const SIZES = [100, 1_000, 20_000];
const METHODS_OF_SKILL = 50;
const ROUNDS = 20;

/** Prints the time of a run and of a search for each size. A search has other words each time. */
export async function printCatalogs() {
  const runtimes = [];
  for (const size of SIZES) runtimes.push([size, await openCatalog(size)]);
  let searches = 0;
  const rows = [
    ["a run with a call", (runtime) => runtime.run(`await device.Skill0.${createVerb(1)}_${createNoun(3)}_1("x")`)],
    [
      "a search",
      (runtime) =>
        runtime.search(`${createVerb(++searches)} the ${createNoun(searches * 3)} of a ${createNoun(searches * 7)}`),
    ],
  ];
  const cells = [];
  for (const [name, work] of rows) {
    const jobs = Object.fromEntries(runtimes.map(([size, runtime]) => [size, () => work(runtime)]));
    const times = await interleaved(jobs, ROUNDS);
    const first = times[SIZES[0]];
    cells.push([name, first, ...SIZES.slice(1).map((size) => times[size] / first)]);
  }
  table("Milliseconds in a catalog of 100 methods, and ratios to it", ["", ...SIZES.map(String)], cells);
  for (const [, runtime] of runtimes) await runtime.close();
}

async function openCatalog(size) {
  const skills = Array.from({ length: size / METHODS_OF_SKILL }, (_, at) => createSkill(at));
  const runtime = await createRuntime({ skillsDir: false, skills, typecheck: false });
  runtime.search("bado"); // builds the index
  return runtime;
}

/** Each method has one of 20 verbs and four of 400 nouns, as in catalogs of many servers. */
function createSkill(at) {
  const name = `Skill${at}`;
  const methods = Array.from({ length: METHODS_OF_SKILL }, (_, index) => {
    const number = at * METHODS_OF_SKILL + index;
    const words = [3, 7, 11, 13].map((factor) => createNoun(number * factor));
    const method = {
      description: `${createVerb(number)}s the ${words[0]} of a ${words[1]}, with its ${words[2]} and ${words[3]}`,
      readOnly: true,
      input: { type: "object", properties: { what: { type: "string" } }, required: ["what"] },
      run: async ({ what }) => what,
    };
    return [`${createVerb(number)}_${words[0]}_${index}`, method];
  });
  return defineSkill({ name, description: `Methods of ${name}`, methods: Object.fromEntries(methods) });
}

const SYLLABLES = [
  "ba",
  "do",
  "ki",
  "lu",
  "me",
  "na",
  "po",
  "ra",
  "se",
  "ti",
  "vo",
  "wa",
  "xe",
  "yu",
  "zo",
  "fi",
  "gu",
  "he",
  "ja",
  "ce",
];

const createVerb = (number) => `${SYLLABLES[number % 20]}ver`;

const createNoun = (number) => `${SYLLABLES[number % 20]}${SYLLABLES[Math.floor(number / 20) % 20]}n`;

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await printCatalogs();
