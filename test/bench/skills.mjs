// Skills from files: reading their types, loading hundreds of them, calling one, seeing one that was saved.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSkills } from "../../dist/src/providers/skills/index.js";
import { readModule } from "../../dist/src/providers/skills/type-reader/index.js";
import { parseSource } from "../../dist/src/providers/skills/type-reader/syntax.js";
import { createRuntime } from "../../dist/src/index.js";
import { interleaved, median, table } from "./measure.mjs";

const FILES = 500;
const SAVES = 30;

/** A skill as people write them: a class, comments, types of several kinds. */
const source = (number) => `
/** What skill ${number} does. */
export class Number${number}Skill {
  /**
   * Add things of kind ${number}.
   *
   * @param first The first of them
   * @param options How to add, and what to add besides
   * @returns The sum
   * @readonly
   * @example device.Number${number}Skill.add(1)
   */
  add(first: number, options: Options = { unit: "metre" }): number {
    return first + (options.second ?? 0);
  }
  /** Say words one after the other. @param words What to say */
  async say(words: string[], ...times: number[]): Promise<string> {
    return words.join(" ");
  }
}
interface Options {
  /** The second of them */
  second?: number;
  unit: "metre" | "mile";
}
`;

export async function benchSkills() {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
  try {
    const reading = benchReading();
    const loading = await benchLoading(folder);
    table(
      "Skills from files, ms",
      ["", "median", "wanted"],
      [
        ["reading the types of one file", reading, "2"],
        [`loading ${FILES} files for the first time`, loading.cold, "2000"],
        [`loading ${FILES} files that were loaded before`, loading.cached, "500"],
        ["from saving a file to its new method", await benchReload(folder), "300"],
      ],
    );
    await benchLocalCall(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function benchReading() {
  const calculator = readFileSync(new URL("../../skills/calculator/skill.ts", import.meta.url), "utf8");
  const time = readFileSync(new URL("../../skills/time.ts", import.meta.url), "utf8");
  const times = [];
  for (let round = 0; round < 100; round++) {
    for (const text of [source(round), calculator, time]) {
      const startedAt = performance.now();
      readModule(parseSource("/skills/some.ts", text), "some");
      times.push(performance.now() - startedAt);
    }
  }
  return median(times);
}

async function benchLoading(folder) {
  const skills = join(folder, "many");
  mkdirSync(skills);
  for (let number = 0; number < FILES; number++) writeFileSync(join(skills, `skill${number}.ts`), source(number));
  const times = { cold: [], cached: [] };
  for (let round = 0; round < 3; round++) {
    const cacheDir = join(folder, `cache${round}`);
    for (const kind of ["cold", "cached"]) {
      const startedAt = performance.now();
      const provider = await loadSkills(skills, { cacheDir });
      times[kind].push(performance.now() - startedAt);
      if (provider.skills.length !== FILES) throw new Error(`${provider.skills.length} of ${FILES} skills`);
      await provider.close();
    }
  }
  return { cold: median(times.cold), cached: median(times.cached) };
}

async function benchReload(folder) {
  const skills = join(folder, "saved");
  mkdirSync(skills);
  const save = (number) => writeFileSync(join(skills, "saved.ts"), `export const method${number} = () => ${number};`);
  save(0);
  const provider = await loadSkills(skills, { cacheDir: join(folder, "cache"), watch: true });
  // Nothing that only watches keeps a program alive.
  const awake = setInterval(() => {}, 1_000);
  const times = [];
  for (let number = 1; number <= SAVES; number++) {
    const startedAt = performance.now();
    const isVisible = () => provider.skills[0]?.methods[0]?.name === `method${number}`;
    const seen = new Promise((resolve) => provider.onChange(() => isVisible() && resolve()));
    save(number);
    await seen;
    times.push(performance.now() - startedAt);
  }
  clearInterval(awake);
  await provider.close();
  return median(times);
}

async function benchLocalCall(folder) {
  const skills = join(folder, "called");
  mkdirSync(skills);
  const text = "export function add(a: number, b: number): number { return a + b; }";
  writeFileSync(join(skills, "sum.ts"), text);
  const runtime = await createRuntime({ skillsDir: skills });
  const add = async ({ a, b }) => a + b;
  const medians = await interleaved(
    { direct: () => add({ a: 1, b: 2 }), call: () => runtime.call("SumSkill.add", { a: 1, b: 2 }) },
    20,
    200,
  );
  await runtime.close();
  table(
    "One call of a local skill, ms",
    ["", "median", "wanted"],
    [
      ["the function itself", medians.direct, ""],
      ["runtime.call, through all guards, into the process of the skills", medians.call, ""],
      ["the difference", medians.call - medians.direct, "0.15"],
    ],
  );
}

if (process.argv[1] === import.meta.filename) await benchSkills();
