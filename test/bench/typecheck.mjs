// How long the type-check of a program takes, in a catalog of 2,000 methods: `node test/bench/typecheck.mjs`.

import { setTimeout as pause } from "node:timers/promises";

import { createRuntime, defineSkill } from "../../dist/src/index.js";
import { createTypecheck } from "../../dist/src/typecheck/index.js";
import { interleaved, median, quantile, table } from "./measure.mjs";

const SKILLS = 8;
const METHODS = 250;
/** The compiler compiles itself as it goes. */
const WARM = 200;
const ROUNDS = 150;
/** The runtime loads the compiler a second after its first program. */
const LOADED_MS = 5_000;

const STRING = { type: "string" };
const NUMBER = { type: "number" };
const RECORD = {
  type: "object",
  properties: {
    id: { ...NUMBER, description: "The number under which it is known" },
    name: { ...STRING, description: "What people call it" },
    tags: { type: "array", items: STRING },
    owner: { type: "object", properties: { name: STRING, email: STRING }, required: ["name"] },
    state: { enum: ["open", "closed", "waiting"] },
  },
  required: ["id", "name"],
};

const MISTAKES = `
device.Skill0.method_3({ qurey: "x" });
device.Skill0.method_4(5);
print((await device.Skill1.method_5("x")).itmes.length);`;

const runtime = await createRuntime({ skillsDir: false, skills: Array.from({ length: SKILLS }, (_, at) => skill(at)) });
const names = runtime.catalog.skills.map(({ name }) => name);

const typecheck = createTypecheck();
const startedAt = performance.now();
await typecheck.warmUp();
console.log(`loaded in ${(performance.now() - startedAt).toFixed(0)} ms; ${runtime.catalog.methods.length} methods`);

const rows = [];
for (const [title, used, write] of [
  ["5 lines, 1 skill of 250 methods", 1, small],
  ["2 KB, 2 skills", 2, large],
  ["2 KB with 3 mistakes, 2 skills", 2, (at) => `${large(at)}\n${MISTAKES}`],
  ["2 KB, all 8 skills", SKILLS, large],
]) {
  const declarations = runtime.declarations(names.slice(0, used));
  const first = await timed(write(0), declarations);
  for (let at = 1; at < WARM; at++) await timed(write(at), declarations);
  const times = [];
  for (let at = WARM; at < WARM + ROUNDS; at++) times.push(await timed(write(at), declarations));
  const kilobytes = Math.round(declarations.length / 1024);
  rows.push([title, `${write(0).length}`, `${kilobytes}`, first, median(times), quantile(times, 0.95)]);
}
table(
  "Type-check of a program through its thread, every source different, in ms",
  ["", "characters", "KB declared", "first", "median", "p95"],
  rows,
);
await typecheck.close();
await runtime.close();
await printRuns();

/** Prints the time of runs with the type check, which is the default, beside runs without it. */
async function printRuns() {
  const skills = [skill(0)];
  const checked = await createRuntime({ skillsDir: false, skills });
  const unchecked = await createRuntime({ skillsDir: false, skills, typecheck: false });
  await checked.run(brief(0));
  await pause(LOADED_MS);
  let texts = 0;
  const jobs = {
    "the same program": () => unchecked.run(brief(0)),
    "the same program, checked": () => checked.run(brief(0)),
    "a new program": () => unchecked.run(brief(++texts)),
    "a new program, checked": () => checked.run(brief(++texts)),
  };
  await interleaved(jobs, ROUNDS);
  const times = await interleaved(jobs, ROUNDS);
  const names = ["the same program", "a new program"];
  const ratios = names.map((name) => [name, times[name], times[`${name}, checked`] / times[name]]);
  table("A run without the type check in ms, and the ratio with it", ["", "without", "with"], ratios);
  await checked.close();
  await unchecked.close();
}

function brief(at) {
  return `const found${at} = await device.Skill0.method_1("x", { count: ${at} });
return found${at}.items.filter((item) => item.id > ${at % 7}).map((item) => item.name).join() + found${at}.total;`;
}

function skill(at) {
  const methods = Array.from({ length: METHODS }, (_, n) => [
    `method_${n}`,
    {
      description: `Does the thing number ${n} for whoever asks, and tells how it went`,
      input: {
        type: "object",
        properties: { query: STRING, count: NUMBER, filter: RECORD, tags: { type: "array", items: STRING } },
        required: ["query"],
      },
      output: {
        type: "object",
        properties: { items: { type: "array", items: RECORD }, total: NUMBER },
        required: ["items", "total"],
      },
      run: async () => ({ items: [], total: 0 }),
    },
  ]);
  return defineSkill({ name: `Skill${at}`, description: "Many methods", methods: Object.fromEntries(methods) });
}

async function timed(code, declarations) {
  const since = performance.now();
  const result = await typecheck.check({ code, declarations, deadlineMs: 30_000 });
  if (result.kind !== "checked") throw new Error(`skipped: ${result.why}`);
  return performance.now() - since;
}

function small(at) {
  return `const { items } = await device.Skill0.method_${at}({ query: "x${at}", count: 5 });
const open = items.filter((item) => item.state === "open");
for (const item of open) print(item.name, item.owner.email);
const more = await device.Skill0.method_${(at + 1) % METHODS}(open[0].name);
return more.total + open.length;`;
}

function large(at) {
  const part = (n) => `
const found${n} = await device.Skill0.method_${(at + n) % METHODS}("query ${at} ${n}", { count: ${n + 1} });
const names${n} = found${n}.items.map((item) => \`\${item.name} (\${item.id})\`).join(", ");
if (found${n}.total > 10) console.log("many", names${n});
const all${n} = await Promise.all(found${n}.items.map((item) => device.Skill1.method_${n}({ query: item.name })));
const totals${n} = all${n}.map(({ items, total }) => items.length + total).reduce((sum, one) => sum + one, 0);`;
  return `${[0, 1, 2, 3].map(part).join("")}\nreturn { ${[0, 1, 2, 3].map((n) => `names${n}, totals${n}`).join(", ")} };`;
}
