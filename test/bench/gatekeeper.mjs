// How long a program takes until it may run, in a catalog of 2,000 methods: `node test/bench/gatekeeper.mjs`.

import { readProgramSource } from "../../dist/src/frontend/index.js";
import { gatekeep } from "../../dist/src/gatekeeper/index.js";
import { createRuntime, defineSkill } from "../../dist/src/index.js";
import { createValidator } from "../../dist/src/validation/index.js";
import { median, quantile, table } from "./measure.mjs";

const SKILLS = 8;
const METHODS = 250;
const ROUNDS = 2_000;

const runtime = await createRuntime({
  skillsDir: false,
  typecheck: false,
  skills: Array.from({ length: SKILLS }, (_, at) => skill(at)),
});
const validator = createValidator();
const questions = {
  catalog: runtime.catalog,
  problems: (method, args) => validator.problems(method, args),
  findRefusal: () => undefined,
};

const rows = [];
for (const [title, write, rounds] of [
  ["2 KB, every source different", report, ROUNDS],
  ["the same with types", typed, ROUNDS],
  ["as many reports as are accepted", many, 40],
  ["as many numbers as are accepted", numbers, 40],
  ["as many statements as are accepted", statements, 40],
]) {
  for (let at = 0; at < rounds; at++) check(write(at));
  const times = [];
  for (let at = rounds; at < 2 * rounds; at++) {
    const source = write(at);
    const since = performance.now();
    check(source);
    times.push(performance.now() - since);
  }
  rows.push([title, `${write(0).length}`, Math.min(...times), median(times), quantile(times, 0.95)]);
}
table("Front end and gatekeeper, in ms", ["", "characters", "best", "median", "p95"], rows);
await runtime.close();

function check(source) {
  const { violations } = gatekeep(readProgramSource(source, { sourceBytes: 256 << 10 }), questions);
  if (violations.length > 0) throw new Error(violations[0].message);
}

function report(at) {
  return `const queries = ["alpha ${at}", "beta", "gamma", "delta"];
const found = await Promise.all(queries.map((query) => device.Skill0.method_3({ query, limit: 5 })));
const rows = [];
for (const [index, result] of found.entries()) {
  if (!result || !result.items) continue;
  for (const item of result.items) {
    const owner = await device.Skill1.method_7({ query: item.owner ?? "nobody" });
    rows.push({ title: item.title, owner: owner.name, score: item.score * 2 + index });
  }
}
function total(list, key) {
  return list.reduce((sum, row) => sum + (Number(row[key]) || 0), 0);
}
const byOwner = {};
for (const row of rows) {
  (byOwner[row.owner] ??= []).push(row);
}
const lines = Object.entries(byOwner).map(([owner, list]) => {
  const best = list.sort((a, b) => b.score - a.score)[0];
  return \`\${owner}: \${list.length} items, best is "\${best.title}" (\${best.score.toFixed(2)})\`;
});
console.log(lines.join("\\n"));
try {
  await device.Skill2.method_11({ query: lines.join("; "), limit: rows.length });
} catch (error) {
  console.error("could not save", error.message);
}
const cache = new Map();
async function load(id) {
  if (cache.has(id)) return cache.get(id);
  const value = await device.Skill3.method_100({ query: String(id) });
  cache.set(id, value);
  return value;
}
const extra = [];
for (let i = 0; i < 3; i++) extra.push(await load(i % 2));
const names = extra.map((each) => each?.name ?? "?").filter((name, at, all) => all.indexOf(name) === at);
const summary = {
  total: total(rows, "score"),
  owners: Object.keys(byOwner).length,
  names,
  when: new Date(0).toISOString(),
  average: rows.length > 0 ? total(rows, "score") / rows.length : 0,
};
const text = await device.Skill4.method_5("summary of " + summary.total);
({ ...summary, text })
`;
}

function typed(at) {
  return report(at)
    .replace("(list, key)", "(list: any[], key: string): number")
    .replace("rows = []", "rows: Row[] = []")
    .replace(/^/, "interface Row { title: string; owner: string; score: number }\n");
}

function many(at) {
  return Array.from({ length: 42 }, (_, part) => `{\n${report(at + part)}}`).join("\n");
}

function numbers(at) {
  return `const numbers = [${Array.from({ length: 15_900 }, (_, n) => n + at).join(", ")}];\nnumbers.length`;
}

function statements(at) {
  return `let sum = ${at};\n${"sum = sum + Math.max(sum, 1);\n".repeat(2_450)}sum`;
}

function skill(at) {
  const method = (n) => ({
    description: `Does the thing number ${n}`,
    input: {
      type: "object",
      properties: { query: { type: "string" }, limit: { type: "number" } },
      required: ["query"],
    },
    run: async () => n,
  });
  const methods = Object.fromEntries(Array.from({ length: METHODS }, (_, n) => [`method_${n}`, method(n)]));
  return defineSkill({ name: `Skill${at}`, description: "A skill of the benchmark", methods });
}
