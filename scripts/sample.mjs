// Runs the first program of README.md, with the skills in skills/ and the MCP servers in .mcp.json, and shows what
// happens: the code, the calls that it made, what it printed, and its result.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import colors from "picocolors";
import { createRuntime } from "../dist/src/index.js";
import { ROOT } from "./prepare.mjs";

const { bold, cyan, dim, green, red } = colors.createColors(process.stdout.isTTY ? process.stdout.hasColors() : false);

const [, program] = /```js\n(.*?)```/s.exec(readFileSync(join(ROOT, "README.md"), "utf8"));
const runtime = await createRuntime({ cwd: ROOT, mcpConfig: ".mcp.json" });
try {
  await runtime.ready;
  section("A model writes one program", numbered(program.trimEnd()));
  const outcome = await runtime.run(program);
  show(outcome);
  process.exitCode = outcome.kind === "completed" ? 0 : 1;
} finally {
  await runtime.close();
}

function show(outcome) {
  if (outcome.kind === "refused") return section(red("It was refused"), outcome.text);
  section("It calls skills", outcome.calls.map(callLine).join("\n"));
  if (outcome.output) section("It prints", outcome.output.trimEnd());
  if (outcome.kind === "failed") return section(red("It failed"), outcome.text);
  section("Its result", JSON.stringify(outcome.value, null, 2));
  const { cpuMs, wallMs } = outcome.usage;
  console.log(dim(`${wallMs.toFixed(0)} ms in all, ${cpuMs.toFixed(1)} ms of them in the sandbox`));
}

function callLine({ skill, method, outcome, durationMs }) {
  const mark = outcome === "ok" ? green("ok") : red(outcome);
  return `${cyan(`${skill}.${method}`.padEnd(36))} ${mark} ${dim(`${durationMs.toFixed(0)} ms`)}`;
}

function numbered(code) {
  return code
    .split("\n")
    .map((line, index) => `${dim(String(index + 1).padStart(2))}  ${line}`)
    .join("\n");
}

function section(title, text) {
  console.log(`${bold(title)}\n\n${text.replace(/^/gm, "  ")}\n`);
}
