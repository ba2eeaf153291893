// @module-tag rest

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { HAS_TERMINAL } from "../surfaces/cli/command.ts";

const IMAGES = join("docs", "images");

const MAX_PICTURE_BYTES = 60_000;

const listDrawings = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".svg"))
    .sort();

/** Numbers are times, and counts of words that change with the pages. */
const maskNumbers = (svg: string): string => svg.replace(/\d[\d.]*/g, "0");

test.skipIf(!HAS_TERMINAL)(
  "draws the committed pictures from the real program, except for numbers",
  { timeout: 120_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "skillgate-images-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    execFileSync(process.execPath, ["scripts/pictures.mjs", folder], { stdio: "pipe" });
    const names = listDrawings(folder);
    expect(names).toEqual(["ask.svg", "refusal.svg", "start.svg"]);
    for (const name of names) {
      const drawn = readFileSync(join(folder, name), "utf8");
      expect(maskNumbers(drawn), `${name} is old; run npm run pictures`).toBe(
        maskNumbers(readFileSync(join(IMAGES, name), "utf8")),
      );
      expect(maskNumbers(drawn.replace("skill", "tool"))).not.toBe(maskNumbers(drawn));
    }
  },
);

test("commits pictures without scripts and without paths of a machine", () => {
  const names = listDrawings(IMAGES);
  expect(names).toContain("pipeline.svg");
  for (const name of names) {
    const svg = readFileSync(join(IMAGES, name), "utf8");
    expect(svg.length).toBeLessThan(MAX_PICTURE_BYTES);
    for (const text of ["<script", "/tmp/", "/home/", process.cwd(), homedir()]) expect(svg).not.toContain(text);
  }
});
