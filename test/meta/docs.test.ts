import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ERRORS } from "../../src/errors.ts";

test("docs/errors.md says what the table of errors says", () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-docs-"));
  try {
    execFileSync(process.execPath, ["scripts/docs.mjs", folder]);
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
  "docs/search.md",
  "skills/README.md",
  ".github/ARCHITECTURE.md",
  ".github/CONTRIBUTING.md",
];

test.each(PAGES)("every link in %s leads to a file that exists", (page) => {
  expect(brokenLinks(page, readFileSync(page, "utf8"))).toEqual([]);
});

test("a link that leads nowhere is found", () => {
  const text = "[gone](docs/gone.md#part), [web](https://example.org), [here](#here), [docs](docs/errors.md#x)";
  expect(brokenLinks("README.md", text)).toEqual(["docs/gone.md"]);
});

function brokenLinks(page: string, text: string): readonly string[] {
  const targets = text.match(/(?<=\]\()[^)#:]+(?=[)#])/g) ?? [];
  return targets.filter((target) => !existsSync(join(dirname(page), target)));
}
