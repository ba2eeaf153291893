// @module-tag rest

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../src/index.ts";
// @ts-expect-error a script that benchmarks use too, without declarations
import { findDocument } from "../../support/api-documents.mjs";

/** Opens a search over all operations of a real document. It returns operations as `get /repos/{owner}`. */
async function openSearch(name: string): Promise<(text: string) => readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-search-"));
  const runtime = await createRuntime({
    cwd: folder,
    skillsDir: false,
    sources: { [name]: { openapi: findDocument(name), server: "https://api.example" } },
    mcp: { stateDir: join(folder, "state") },
    observe: false,
  });
  onTestFinished(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true });
  });
  await runtime.known;
  const getOperation = (path: string): string => {
    const { verb, path: target } = runtime.catalog.method(path)?.definition.request ?? { verb: "", path };
    return `${verb} ${target}`;
  };
  return (text) => runtime.search(text, { limit: 5, readMs: 60_000 }).results.map(({ path }) => getOperation(path));
}

interface Question {
  readonly text: string;
  /** Each of these operations is an answer. */
  readonly answers: readonly string[];
}

function readQuestions(name: string): readonly Question[] {
  const file = new URL(`../../fixtures/search/questions/${name}.tsv`, import.meta.url);
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => {
    const [text = "", answers = ""] = line.split("\t");
    return { text, answers: answers.split("|") };
  });
}

/** The weights of requests were chosen on the first, third, … question for GitHub. These are left out. */
describe.each([
  ["github", readQuestions("github").filter((_, at) => at % 2 === 1)],
  ["stripe", readQuestions("stripe")],
  ["digitalocean", readQuestions("digitalocean")],
])("a search in the API of %s", (name, questions) => {
  test("finds the right method among five for 85 % of the questions, and first for 60 % [D1]", async () => {
    const find = await openSearch(name);
    const ranks = questions.map(({ text, answers }) =>
      find(text).findIndex((operation) => answers.includes(operation)),
    );
    const getShare = (count: number): number => ranks.filter((at) => at >= 0 && at < count).length / ranks.length;
    expect(questions.length).toBeGreaterThanOrEqual(60);
    expect(getShare(5)).toBeGreaterThanOrEqual(0.85);
    expect(getShare(1)).toBeGreaterThanOrEqual(0.6);
  });
});
