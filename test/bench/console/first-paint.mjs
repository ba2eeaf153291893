// The time until the console paints and shows its content in a new tab, and its longest task, with 1,000 methods and 100,000 runs, in
// Chromium: node test/bench/console/first-paint.mjs

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { defineSkill } from "../../../dist/src/authoring/define-skill.js";
import { createRuntime } from "../../../dist/src/runtime.js";
import { createConsole } from "../../../dist/src/surfaces/console/index.js";
import { SERVER_DEFAULTS, serveHttp } from "../../../dist/src/surfaces/http/index.js";
import { fillStore } from "./fill-store.mjs";

const ROUNDS = 10;
const RUNS = 100_000;
const PAGES = [
  "",
  "servers",
  "search?q=method+7",
  "methods",
  "runs",
  "runs?sort=duration",
  "runs?state=failed&text=article",
];

const methods = Object.fromEntries(
  Array.from({ length: 1_000 }, (_, at) => [`method${at}`, { description: `Returns number ${at}`, run: () => at }]),
);
const skill = defineSkill({ name: "LargeSkill", description: "Has many methods", methods });
const store = mkdtempSync(join(tmpdir(), "skillgate-bench-"));
const runtime = await createRuntime({ skillsDir: false, skills: [skill], workers: 1, store });
await runtime.database();
fillStore(store, RUNS);
const settings = { ...SERVER_DEFAULTS, port: 0, auth: false, drainSeconds: 0 };
const server = await serveHttp(runtime, settings, undefined, { pages: createConsole(runtime) });
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const page of PAGES) {
    const rounds = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await measure(`${server.url}/#/${page}`));
    const paints = rounds.map(({ paintMs }) => paintMs).sort((a, b) => a - b);
    const contents = rounds.map(({ contentMs }) => contentMs).sort((a, b) => a - b);
    const longest = Math.max(...rounds.map(({ longestMs }) => longestMs));
    console.log(
      `${`#/${page}`.padEnd(24)} first paint ${median(paints)} ms (at most ${Math.round(paints.at(-1))}), ` +
        `content ${median(contents)} ms, longest task ${longest === 0 ? "under 50" : Math.round(longest)} ms`,
    );
  }
} finally {
  await browser.close();
  await server.close();
  await runtime.close();
  rmSync(store, { recursive: true, force: true });
}

/** Opens an address in a browser context without a cache. The browser reports tasks of 50 ms or more. */
async function measure(address) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.addInitScript(() => {
    globalThis.longTasks = [];
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) globalThis.longTasks.push(duration);
    }).observe({ type: "longtask", buffered: true });
  });
  await page.goto(address);
  await page.locator("main h1").waitFor();
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
  const result = await page.evaluate(() => ({
    paintMs: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now(),
    contentMs: performance.now(),
    longestMs: Math.max(0, ...globalThis.longTasks),
  }));
  await context.close();
  return result;
}

function median(sorted) {
  return Math.round(sorted[Math.floor(sorted.length / 2)]);
}
