// How often search finds the right method among its first five, and how fast: `node test/bench/search.mjs`.
//
// The catalogs lie beside the repository, in ../shared/data/search; DATA names another folder. MiniSearch, Orama and
// FlexSearch run beside ours where they are installed in .cache/peers (minisearch, @orama/orama, flexsearch).

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { quantile, table } from "./measure.mjs";
import { loadRegistry, openOurs, openPeers } from "./search-engines.mjs";

const DATA = process.env.DATA ?? join(import.meta.dirname, "../../../shared/data/search");
const SETS = ["bfcl", "sealtools_dev", "metatool_single", "apibank_keywords"];
const LARGE = 50_000;
const EXAMPLES = 5;

if (!existsSync(DATA)) {
  console.error(`Cannot measure search without its catalogs: no folder ${DATA}`);
  process.exit(2);
}

const ours = await loadRegistry();
const { openSkillgate, createServerSkill } = openOurs(ours);
const { createRegistry, openaiTool, search, systemPrompt } = ours;
const engines = [{ name: "Skillgate", open: openSkillgate }, ...(await openPeers())];
await recallTable();
await exactNames();
await learningTable();
promptTable();
await speedTable();
growthTable();

function readSet(name) {
  return JSON.parse(readFileSync(join(DATA, `${name}.json`), "utf8"));
}

async function recallTable() {
  const rows = [];
  for (const name of SETS) {
    const { tools, queries } = readSet(name);
    const row = [`${name} (${tools.length})`];
    for (const { open } of engines) row.push((100 * (await measureRecall(await open(tools), queries))).toFixed(1));
    rows.push(row);
  }
  table("recall@5, %", ["", ...engines.map(({ name }) => name)], rows);
}

/** Methods of one name answer a question alike: each group of them counts once. */
async function measureRecall(find, queries) {
  let sum = 0;
  for (const { text, relevant, groups = relevant.map((id) => [id]) } of queries) {
    const first = new Set(await find(text, 5));
    sum += groups.filter((group) => group.some((id) => first.has(id))).length / groups.length;
  }
  return sum / queries.length;
}

async function exactNames() {
  const { tools } = readSet("sealtools_dev");
  const names = new Map(tools.map(({ id, name }) => [id, name]));
  const find = await openSkillgate(tools);
  const shapes = [
    (name) => name,
    (name) => name.toUpperCase(),
    (name) => name.replace(/([a-z])([A-Z])/g, "$1 $2"),
    (name) => name.replace(/([a-z])([A-Z])/g, "$1_$2").toLowerCase(),
  ];
  const found = shapes.map((shape) => tools.filter(({ name }) => names.get(find(shape(name), 1)[0]) === name).length);
  const rows = found.map((count, at) => [shapes[at]("getUserName"), (100 * count) / tools.length]);
  table("exact names, recall@1, %", ["written as", "Skillgate"], rows);
}

async function learningTable() {
  const { tools, queries } = readSet("metatool_single");
  const examples = new Map();
  for (const { text, relevant } of queries.filter((_, at) => at % 2 === 0)) {
    const known = examples.get(relevant[0]) ?? [];
    if (known.length < EXAMPLES) examples.set(relevant[0], [...known, { request: text }]);
  }
  const others = queries.filter((_, at) => at % 2 === 1);
  const used = await openSkillgate(tools);
  for (const { text, relevant } of queries.filter((_, at) => at % 2 === 0)) used.used(text, relevant[0]);
  const rows = [
    ["without examples", 100 * (await measureRecall(await openSkillgate(tools), others))],
    [`up to ${EXAMPLES} examples a method`, 100 * (await measureRecall(await openSkillgate(tools, examples), others))],
    ["the other half searched, then called", 100 * (await measureRecall(used, others))],
  ];
  table("metatool_single, recall@5, %", ["", "Skillgate"], rows);
}

/** Fifty thousand methods: those of the four catalogs, again and again under other names. */
function largeCatalog() {
  const tools = SETS.flatMap((name) => readSet(name).tools);
  return Array.from({ length: LARGE }, (_, at) => {
    const tool = tools[at % tools.length];
    const round = Math.floor(at / tools.length);
    const suffix = round === 0 ? "" : `${round}`;
    return { ...tool, id: `${at}`, server: `${tool.server || "server"} ${suffix}`, name: `${tool.name}${suffix}` };
  });
}

async function speedTable() {
  const tools = largeCatalog();
  const all = SETS.flatMap((name) => readSet(name).queries.map(({ text }) => text));
  const words = (text) => text.split(/\s+/).length;
  const short = all.filter((text) => words(text) >= 6 && words(text) <= 8).slice(0, 400);
  const long = all.filter((text) => words(text) >= 44 && words(text) <= 52).slice(0, 200);
  // Others than those that are measured: what an engine keeps of an answer must not help.
  const first = all.filter((text) => words(text) >= 9 && words(text) <= 12).slice(0, 800);
  const rows = [];
  for (const { name, open } of engines) {
    // Peers take long: a tenth of the queries must do.
    const some = (texts) => (name === "Skillgate" ? texts : texts.slice(0, texts.length / 10));
    rows.push([name, ...(await measureSpeed(open, tools, [first, short, long].map(some)))]);
  }
  const columns = ["", "build s", "MB", "7 words p50 ms", "p99", "48 words p50 ms", "p99"];
  table(`the index of ${LARGE} methods; MB with node --expose-gc`, columns, rows);
}

async function measureSpeed(open, tools, [first, ...queries]) {
  let before = await usedMegabytes();
  let startedAt = performance.now();
  const find = await open(tools);
  if (open === openSkillgate) {
    // Only the catalog is there so far, which others do not have; the first question makes the index.
    before = await usedMegabytes();
    startedAt = performance.now();
  }
  await find(first[0], 5);
  const seconds = (performance.now() - startedAt) / 1_000;
  const used = (await usedMegabytes()) - before;
  for (const text of first) await find(text, 8);
  const times = [];
  for (const texts of queries) times.push(...(await quantiles(find, texts)));
  return [seconds, Number.isNaN(used) ? "–" : used, ...times];
}

async function usedMegabytes() {
  if (global.gc === undefined) return Number.NaN;
  for (let i = 0; i < 3; i++) {
    global.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / (1 << 20);
}

async function quantiles(find, queries) {
  const times = [];
  for (const query of queries) {
    const startedAt = performance.now();
    await find(query, 8);
    times.push(performance.now() - startedAt);
  }
  return [quantile(times, 0.5), quantile(times, 0.99)];
}

/** What a model reads before its first word: the catalog in the system prompt, or every tool as a definition. */
function promptTable() {
  const folder = join(import.meta.dirname, "../fixtures/mcp/tools");
  const registry = createRegistry();
  for (const file of readdirSync(folder))
    registry.register(createServerSkill(JSON.parse(readFileSync(join(folder, file), "utf8"))));
  const { catalog } = registry;
  const tokens = (text) => Math.ceil(text.length / 4);
  const rows = ["code", "tools", "native"].map((mode) => [
    `system prompt, ${mode}`,
    tokens(systemPrompt(catalog, { mode })),
  ]);
  rows.push(["plain definitions", tokens(JSON.stringify(catalog.methods.map(openaiTool)))]);
  table(`${catalog.methods.length} recorded tools, tokens (a quarter of the characters)`, ["", "tokens"], rows);
}

function growthTable() {
  const registry = createRegistry();
  const createSkill = (name, count) => ({
    name,
    description: "",
    source: name,
    kind: "code",
    methods: Array.from({ length: count }, (_, at) => ({
      name: `method${at}`,
      description: `Does thing ${at} of ${name} quickly and well`,
      input: { type: "object", properties: { value: { type: "string", description: "What to do it with" } } },
    })),
    invoke: () => Promise.reject(new Error("Cannot call a sample")),
  });
  for (let at = 0; at < LARGE / 10; at++) registry.register(createSkill(`Skill${at}`, 10));
  search(registry.catalog, "thing");
  const times = [];
  for (let at = 0; at < 200; at++) {
    const startedAt = performance.now();
    registry.register(createSkill(`Late${at}`, 10));
    search(registry.catalog, `late${at} thing`);
    times.push(performance.now() - startedAt);
  }
  table(
    "one skill more, and found",
    ["", "p50 ms", "p99"],
    [["10 methods", quantile(times, 0.5), quantile(times, 0.99)]],
  );
}
