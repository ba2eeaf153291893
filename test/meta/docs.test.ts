import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "../../src/errors.ts";

test("generates docs/errors.md, docs/configuration.md and the schema of settings from tables in the code", () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-docs-"));
  try {
    execFileSync(process.execPath, ["scripts/docs.mjs", folder]);
    for (const name of ["configuration.md", "settings.schema.json"])
      expect(readFileSync(`docs/${name}`, "utf8")).toBe(readFileSync(join(folder, name), "utf8"));
    const page = readFileSync(join(folder, "errors.md"), "utf8");
    expect(readFileSync("docs/errors.md", "utf8")).toBe(page);
    expect(page.match(/(?<=^\| `)[A-Z_]+(?=`)/gm)).toEqual(Object.keys(ERRORS));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const PAGES = [
  "README.md",
  "CHANGELOG.md",
  "docs/skills.md",
  "sandbox/README.md",
  ...pagesIn("docs"),
  ...pagesIn(".github"),
];

/** The longest README that a stranger reads; details belong on a page of docs/. */
const MAX_README_LINES = 220;

test.each(PAGES)("finds a file for every link in %s", (page) => {
  expect(brokenLinks(page, readFileSync(page, "utf8"))).toEqual([]);
});

test("the README stays short and links to every page in docs/", () => {
  const readme = readFileSync("README.md", "utf8");
  expect(readme.split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
  expect(pagesIn("docs").filter((page) => !readme.includes(`](${page}`))).toEqual([]);
});

test("finds a link that leads nowhere", () => {
  const text = "[gone](docs/gone.md#part), [web](https://example.org), [here](#here), [docs](docs/errors.md#x)";
  expect(brokenLinks("README.md", text)).toEqual(["docs/gone.md"]);
});

function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : []));
}

function brokenLinks(page: string, text: string): readonly string[] {
  const targets = text.match(/(?<=\]\()[^)#:]+(?=[)#])/g) ?? [];
  return targets.filter((target) => !existsSync(join(dirname(page), target)));
}
