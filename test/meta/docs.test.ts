import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "../../src/errors.ts";

test(
  "generates the pages of errors and of settings, their schema, and the tables of ARCHITECTURE.md",
  { tags: "rest" },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "skillgate-docs-"));
    try {
      execFileSync(process.execPath, ["scripts/docs.mjs", folder]);
      for (const name of ["configuration.md", "settings.schema.json"])
        expect(readFileSync(`docs/${name}`, "utf8")).toBe(readFileSync(join(folder, name), "utf8"));
      expect(readFileSync(".github/ARCHITECTURE.md", "utf8")).toBe(
        readFileSync(join(folder, "ARCHITECTURE.md"), "utf8"),
      );
      const page = readFileSync(join(folder, "errors.md"), "utf8");
      expect(readFileSync("docs/errors.md", "utf8")).toBe(page);
      expect(page.match(/(?<=^\| `)[A-Z_]+(?=`)/gm)).toEqual(Object.keys(ERRORS));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

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

test("names only files and folders that exist in ARCHITECTURE.md", () => {
  const text = readFileSync(".github/ARCHITECTURE.md", "utf8");
  expect(findLostPaths(text)).toEqual([]);
  expect(findLostPaths("`src/gone.ts`, `test/gone`, `src/errors.ts`, `test/meta/docs`")).toEqual([
    "src/gone.ts",
    "test/gone",
  ]);
});

/** Returns the paths in backticks to which no file and no folder belongs. Tests are named without their ending. */
function findLostPaths(text: string): readonly string[] {
  const paths = text.match(/(?<=`)(?:src|sandbox|test|scripts|docs|skills|evals|\.github)\/[^`\s*…]*(?=`)/g) ?? [];
  return paths.filter((path) => ![path, `${path}.test.ts`].some((each) => existsSync(each)));
}

function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => (name.endsWith(".md") ? [`${folder}/${name}`] : []));
}

function brokenLinks(page: string, text: string): readonly string[] {
  const targets = text.match(/(?<=\]\()[^)#:]+(?=[)#])/g) ?? [];
  return targets.filter((target) => !existsSync(join(dirname(page), target)));
}
