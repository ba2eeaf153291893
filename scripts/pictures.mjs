// `npm run pictures [folder]`: runs the real program in a terminal, and writes what it shows as SVG, and the console as PNG,
// to docs/images by default.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { DIST, prepare, ROOT } from "./prepare.mjs";
import { createSvg } from "./pictures/create-svg.mjs";
import { drawConsole, hasChromium } from "./pictures/draw-console.mjs";
import { recordTerminal } from "./pictures/record-terminal.mjs";

const BIN = join(DIST, "src", "bin.js");

const MAX_PNG_BYTES = 150 << 10;

const folder = resolve(process.argv[2] ?? join(ROOT, "docs", "images"));
await prepare({ isDemo: false });
mkdirSync(folder, { recursive: true });
const base = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-pictures-")));
try {
  await draw("start", "npm start", join(ROOT, "scripts", "start.mjs"), { cwd: ROOT });
  await drawRefusal();
  await drawAnswer();
  await drawOverview();
} finally {
  rmSync(base, { recursive: true });
}

/** Records a command, and writes its picture. `label` is the command as the picture shows it. */
async function draw(name, label, command, { cwd, env = {} }) {
  const shown = await recordTerminal(command, { cwd, env: { ...env, HOME: base, SKILLGATE_TRUSTED_FOLDERS: cwd } });
  requireNoPath(name, shown);
  writeFileSync(join(folder, `${name}.svg`), createSvg(label, shown));
}

/** Throws if a picture would show a path of this machine. */
function requireNoPath(name, shown) {
  const path = [ROOT, base, homedir()].find((each) => shown.includes(each));
  if (path !== undefined) throw new Error(`The picture ${name} would show the path ${path}`);
}

/** Draws the overview of the console for the project of `drawAnswer`. */
async function drawOverview() {
  if (!hasChromium()) {
    console.warn("console.png is not drawn: Chromium is not installed");
    return;
  }
  const { png, text } = await drawConsole(join(base, "project"));
  requireNoPath("console", text);
  if (png.length > MAX_PNG_BYTES) throw new Error(`The picture console has ${png.length} bytes`);
  writeFileSync(join(folder, "console.png"), png);
}

/** Draws the refusal of the second program of the README. */
async function drawRefusal() {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const [, program] = /## A refused program.*?```js\n(.*?)```/s.exec(readme);
  const file = join(base, "program.js");
  writeFileSync(file, program);
  await draw("refusal", "skillgate run program.js", `${BIN} run ${file}`, { cwd: ROOT });
}

/** Draws a question to a model, whose replies come over HTTP from a server of this process. */
async function drawAnswer() {
  const question = "How many issues are open per person?";
  const replies = JSON.parse(readFileSync(join(import.meta.dirname, "pictures", "replies.json"), "utf8"));
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  let next = 0;
  for (const [index, reply] of replies.entries())
    mock.on({ predicate: () => index === next }, () => ((next += 1), reply));
  await mock.start();
  const cwd = join(base, "project");
  mkdirSync(join(cwd, "skills"), { recursive: true });
  const skill = readFileSync(join(import.meta.dirname, "pictures", "tracker.js"), "utf8");
  writeFileSync(join(cwd, "skills", "tracker.js"), skill);
  const env = { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "none", OPENAI_MODEL: "scripted" };
  try {
    await draw("ask", `skillgate ask "${question}"`, `${BIN} ask "${question}"`, { cwd, env });
  } finally {
    await mock.stop();
  }
}
