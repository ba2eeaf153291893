// @module-tag rest

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/index.ts";
import { describe as describeMethod } from "../../../src/registry/index.ts";
import { estimateTokens } from "../../../src/registry/token-count.ts";
// @ts-expect-error a script that benchmarks use too, without declarations
import { findDocument } from "../../support/api-documents.mjs";

/** The runtimes by the names of their documents: the compilation of a document of megabytes takes seconds. */
const opened = new Map<string, Promise<Runtime>>();
const folders: string[] = [];

afterAll(async () => {
  for (const opening of opened.values()) await (await opening).close();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Opens a runtime with all operations of a real document, once for the tests of this file, which only read. */
function openDocument(name: string): Promise<Runtime> {
  const opening = opened.get(name) ?? compileDocument(name);
  opened.set(name, opening);
  return opening;
}

async function compileDocument(name: string): Promise<Runtime> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-documents-"));
  folders.push(cwd);
  const runtime = await createRuntime({
    cwd,
    skillsDir: false,
    sources: { [name]: { openapi: findDocument(name), server: "https://api.example" } },
    mcp: { stateDir: join(cwd, "state") },
    observe: false,
  });
  await runtime.known;
  return runtime;
}

/** Opens a search over the operations of a document. It returns operations as `get /repos/{owner}`. */
async function openSearch(name: string): Promise<(text: string) => readonly string[]> {
  const runtime = await openDocument(name);
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

test.each(["github", "stripe"])(
  "no description of a method of %s has more than 1,500 tokens, and each type that it leaves out is there by its name [D3]",
  { timeout: 120_000 },
  async (name) => {
    const { catalog } = await openDocument(name);
    const described = catalog.methods.map(({ path }) => describeMethod(catalog, path));
    const sizes = described.map(({ path, text }) => ({ path, tokens: estimateTokens(text) }));
    expect(sizes.length).toBeGreaterThan(200);
    expect(sizes.filter(({ tokens }) => tokens > 1_500)).toEqual([]);
    const omitted = described.flatMap(({ notes }) =>
      notes.flatMap((note) => /describe\("(.*?)"\)/.exec(note)?.[1] ?? []),
    );
    expect(omitted.length).toBeGreaterThan(20);
    const types = omitted.slice(0, 300).map((path) => describeMethod(catalog, path));
    expect(types.filter(({ kind, text }) => kind !== "type" || estimateTokens(text) > 1_500)).toEqual([]);
  },
);
