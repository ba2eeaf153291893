import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const BUNDLE = new URL("../../../dist/src/surfaces/console/bundle/", import.meta.url);

const MAX_BYTES = 250_000;

test("the pages are scripts and one style of at most 250 KB, with the licences of their libraries [O2]", () => {
  const names = readdirSync(BUNDLE).toSorted();
  expect(names.filter((name) => !name.startsWith("chunk-"))).toEqual(["app.css", "app.js", "icon.svg", "licences.txt"]);
  const sizes = names.filter((name) => /\.(js|css)$/.test(name)).map(zippedSize);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MAX_BYTES);
  const licences = readFileSync(new URL("licences.txt", BUNDLE), "utf8");
  for (const name of ["preact", "@preact/signals", "marked"])
    expect(licences).toMatch(new RegExp(`^${name} \\d+\\.`, "m"));
});

function zippedSize(name: string): number {
  return gzipSync(readFileSync(new URL(name, BUNDLE)), { level: 9 }).length;
}
