// Writes the pages of docs/ that are made from tables in the code, after a build: node scripts/docs.mjs [folder]

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { configurationPage } from "./configuration-page.mjs";
import { DIST, ROOT } from "./prepare.mjs";

const folder = process.argv[2] ?? join(ROOT, "docs");
writeFileSync(join(folder, "errors.md"), await errorsPage());
const { createSettingsSchema } = await import(pathToFileURL(join(DIST, "src/surfaces/cli/settings/schema.js")));
const schema = JSON.parse(JSON.stringify(await createSettingsSchema()));
writeFileSync(join(folder, "settings.schema.json"), `${JSON.stringify(schema, null, 2)}\n`);
writeFileSync(join(folder, "configuration.md"), configurationPage(schema));

const architecture = join(ROOT, ".github", "ARCHITECTURE.md");
writeFileSync(process.argv[2] === undefined ? architecture : join(folder, "ARCHITECTURE.md"), architecturePage());

/** Returns ARCHITECTURE.md with the tables of modules and of layers, which .github/layers.json has from the bottom up. */
function architecturePage() {
  const layers = JSON.parse(readFileSync(join(ROOT, ".github", "layers.json"), "utf8")).toReversed();
  const modules = layers.flatMap((layer) => Object.entries(layer));
  const path = (name) => (name === "sandbox" ? "sandbox/" : name.endsWith(".ts") ? `src/${name}` : `src/${name}/`);
  const rows = modules.map(([name, does]) => [`\`${path(name)}\``, does]);
  const width = (column) => Math.max(...rows.map((row) => row[column].length));
  const line = (cells) => `| ${cells.map((text, column) => text.padEnd(width(column))).join(" | ")} |`;
  const head = [line(["module", "what it does"]), `| ${"-".repeat(width(0))} | ${"-".repeat(width(1))} |`];
  const table = [...head, ...rows.map(line)].join("\n");
  const order = layers.map((layer) => ` ${Object.keys(layer).join(" · ").replaceAll(".ts", "")}`).join("\n");
  const page = readFileSync(architecture, "utf8");
  return replaceBlock(replaceBlock(page, "modules", table), "layers", `\`\`\`\n${order}\n\`\`\``);
}

function replaceBlock(page, name, text) {
  const [start, end] = [`<!-- ${name}: written by npm run docs -->`, `<!-- end of ${name} -->`];
  const [before, rest] = page.split(start);
  return `${before}${start}\n\n${text}\n\n${end}${rest.split(end)[1]}`;
}

async function errorsPage() {
  const { ERRORS, ERROR_STAGES } = await importText(readFileSync(join(ROOT, "src", "errors.ts"), "utf8"));
  const lines = [
    "# Errors",
    "",
    "Every error has a code that never changes. Its message is the sentence below, then the values, then the code:",
    "",
    "```",
    "Unknown method: MathSkill.ad (METHOD_UNKNOWN)",
    "```",
    "",
    "This page is generated from the table in `src/errors.ts` by `node scripts/docs.mjs`.",
  ];
  for (const [stage, title] of Object.entries(ERROR_STAGES)) {
    lines.push("", `## ${title}`, "", "| code | message | what to do |", "| --- | --- | --- |");
    const errors = Object.entries(ERRORS).filter(([, error]) => error.stage === stage);
    for (const [code, { says, fix }] of errors) lines.push(`| \`${code}\` | ${cell(says)} | ${cell(fix)} |`);
  }
  lines.push("", "## What a model reads", "", "Refused programs, each with the full text that the model reads.");
  for (const { code, source, text } of refusals()) {
    lines.push("", `### ${code}`, "", "```js", shown(source), "```", "", "```text", shown(text), "```");
  }
  return `${lines.join("\n")}\n`;
}

/** Reads the refusals that the tests compare with. */
function refusals() {
  return JSON.parse(readFileSync(join(ROOT, "test", "fixtures", "refusals.json"), "utf8"));
}

/** Escapes an invisible character. */
function shown(text) {
  return text.replaceAll("\u202e", "\\u202e");
}

function cell(text) {
  return text.replaceAll("|", "\\|");
}

async function importText(source) {
  const { code } = transformSync(source, { loader: "ts", format: "esm" });
  return import(`data:text/javascript,${encodeURIComponent(code)}`);
}
