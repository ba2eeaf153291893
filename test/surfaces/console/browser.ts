import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { beforeAll, expect, onTestFinished } from "vitest";

import type { RuntimeOptions } from "../../../src/runtime/options.ts";
import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import type { ConsoleConfig } from "../../../src/surfaces/console/config-files.ts";
import { createConsole } from "../../../src/surfaces/console/index.ts";
import { type HttpServerSettings, SERVER_DEFAULTS, serveHttp } from "../../../src/surfaces/http/index.ts";
import { TestSkill } from "../serving.ts";

const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

/** False on a machine without Chromium; the tests in a browser are skipped there, but never on a build server. */
export const hasChromium = existsSync(CHROMIUM) || process.env["CI"] !== undefined;

if (!hasChromium)
  console.warn("SKIPPED: the tests in a browser, because chromium is not installed (Debian: apt-get install chromium)");

/** Screenshots of pages, for a person to look at. */
const SCREENSHOTS = join(import.meta.dirname, "screenshots");

/** A served runtime with the console. */
export interface ConsoleServer {
  readonly url: string;
  readonly runtime: Runtime;
  /** Returns an address that logs in as the owner. */
  createLoginLink(): string;
  close(): Promise<void>;
}

export interface ConsoleServerOptions {
  readonly settings?: Partial<HttpServerSettings>;
  readonly runtime?: RuntimeOptions;
  /** The folder of a project whose files the console may change. */
  readonly project?: string;
  /** The home folder of the user, default: the project, which is trusted then. */
  readonly home?: string;
  /** Takes what ends the server, default: it ends with the test. */
  readonly onEnd?: (close: () => Promise<void>) => void;
}

/** The bundle that the build has written. */
const BUNDLE = new URL("../../../dist/src/surfaces/console/bundle/", import.meta.url);

export const TOKEN = "the-token-of-the-server";

/** Starts a server with the console. Its token is `TOKEN`. */
export async function serveConsole(options: ConsoleServerOptions = {}): Promise<ConsoleServer> {
  const { settings, project = "", home = project, onEnd = onTestFinished } = options;
  const env = createEnvironment(home);
  const files = project === "" ? {} : { cwd: project, env, discover: true };
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [TestSkill],
    workers: 1,
    watch: project !== "",
    ...files,
    ...options.runtime,
  });
  const config = project === "" ? undefined : createConfig(project, home);
  const pages = createConsole(runtime, { bundle: BUNDLE, ...(config !== undefined && { config }) });
  const all = { ...SERVER_DEFAULTS, port: 0, drainSeconds: 1, ...settings };
  const server = await serveHttp(runtime, all, all.auth ? (token) => token === TOKEN : undefined, { pages });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= server.close().then(() => runtime.close()));
  onEnd(close);
  return { url: server.url, runtime, createLoginLink: () => pages.createLoginLink(server.url), close };
}

function createEnvironment(home: string): Record<string, string | undefined> {
  return { PATH: process.env["PATH"], HOME: home, XDG_STATE_HOME: join(home, ".state") };
}

function createConfig(project: string, home: string): ConsoleConfig {
  const options = { cwd: project, env: createEnvironment(home), home };
  return { options, settingsFile: join(project, "settings.yaml"), skillsFolder: join(project, "skills") };
}

let browser: Browser | undefined;

/** Starts Chromium, unless an earlier file of this process has: files of one process share it. It ends with the process. */
export function useBrowser(): void {
  beforeAll(async () => {
    if (!hasChromium) return;
    browser ??= await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  });
}

/** A page, and what went wrong in it. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, refusals of the content security policy, and requests to other hosts. */
  readonly faults: readonly string[];
}

export interface PageOptions {
  readonly theme?: "dark" | "light";
  readonly width?: number;
  readonly height?: number;
}

/** Opens an address in a browser context of its own, which has no cookies yet. */
export async function openPage(address: string, options: PageOptions = {}): Promise<OpenPage> {
  const { theme = "light", width = 1280, height = 800 } = options;
  if (browser === undefined) throw new Error("call useBrowser() in the file of the test");
  const context = await browser.newContext({
    locale: "en-GB",
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !/status of 401|ERR_CONNECTION_REFUSED|ERR_INCOMPLETE/.test(message.text()))
      faults.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).host !== new URL(address).host) faults.push(`request: ${request.url()}`);
  });
  await page.goto(address);
  return { page, context, faults };
}

/** Logs in by a link and opens a page of the console. */
export async function openConsole(server: ConsoleServer, hash = "#/", options: PageOptions = {}): Promise<OpenPage> {
  const opened = await openPage(server.createLoginLink(), options);
  await opened.page.getByText("Live", { exact: true }).waitFor();
  await goTo(opened.page, hash);
  return opened;
}

export async function goTo(page: Page, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
  await expect.poll(() => page.locator("[aria-busy=true]").count()).toBe(0);
}

/** Writes a picture of the page to the folder of screenshots. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: false });
}

/** The colours and the width of a window. */
export type View = readonly [theme: "dark" | "light", width: number];

/** The usual window in both colours. */
export const BOTH_COLOURS: readonly View[] = [
  ["light", 1280],
  ["dark", 1280],
];

/** Checks a page in other colours and widths, one after the other; `view` names them. */
export async function checkViews(
  page: Page,
  views: readonly View[],
  check: (view: string) => Promise<void>,
): Promise<void> {
  for (const [theme, width] of views) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
    await page.setViewportSize({ width, height: 800 });
    await check(`${theme}-${width}`);
  }
}

/** Replaces the text of the editor, as by pasting. */
export async function writeProgram(page: Page, text: string): Promise<void> {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  // The browser gives text that replaces coloured text an inline style, which the policy refuses.
  await page.keyboard.press("Backspace");
  await page.keyboard.insertText(text);
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the violations that axe finds, each with its first element. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // The policy of the page forbids inline scripts; the debugger's own evaluation is exempt.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    type Axe = { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  });
}
