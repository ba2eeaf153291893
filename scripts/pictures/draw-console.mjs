import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { DIST } from "../prepare.mjs";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const hasChromium = () => existsSync(CHROMIUM);

const SIZE = { width: 1200, height: 720 };

/** Programs of the runs that the picture shows; one of them fails, and one is refused. */
const PROGRAMS = [
  'device.TrackerSkill.listIssues("open")',
  'const issues = await device.TrackerSkill.listIssues("open");\nissues.filter(({ assignee }) => assignee === "Ada").length',
  "device.TrackerSkill.closeIssue(4)",
  'throw new Error("no issue is due")',
  'const closed = await device.TrackerSkill.listIssues("closed");\nclosed.map(({ id }) => id)',
];

/** Runs programs in a project and returns a picture of the overview of its console, as PNG. */
export async function drawConsole(cwd) {
  const load = (path) => import(pathToFileURL(join(DIST, "src", path)).href);
  const { createRuntime } = await load("runtime.js");
  const { createConsole } = await load("surfaces/console/index.js");
  const { SERVER_DEFAULTS, serveHttp } = await load("surfaces/http/index.js");
  const runtime = await createRuntime({ cwd, workers: 1 });
  const pages = createConsole(runtime);
  const server = await serveHttp(runtime, { ...SERVER_DEFAULTS, port: 0, auth: false, drainSeconds: 0 }, undefined, {
    pages,
  });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await runtime.ready;
    for (const program of PROGRAMS) await runtime.run(program);
    const page = await browser.newPage({
      viewport: SIZE,
      locale: "en-GB",
      colorScheme: "light",
      reducedMotion: "reduce",
    });
    await page.goto(server.url);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
    return { png: await page.screenshot(), text: await page.locator("body").innerText() };
  } finally {
    await browser.close();
    await server.close();
    await runtime.close();
  }
}
