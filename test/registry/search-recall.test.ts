// @module-tag rest

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createSearchFeedback } from "../../src/observed/search-feedback.ts";
import { toMethodNames, toSkillName } from "../../src/shared/names/skill-names.ts";
import type { MethodExample } from "../../src/model/skill.ts";
import { type ObservedWords, search } from "../../src/registry/index.ts";
import { createCatalog, createSkill } from "./catalogs.ts";

/** Public tool-retrieval sets; they lie beside the repository, not in it. */
const DATA = process.env["DATA"] ?? join(import.meta.dirname, "../../../shared/data/search");

interface Tool {
  readonly id: string;
  readonly server?: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly description?: string }[];
}

interface Question {
  readonly text: string;
  readonly relevant: readonly string[];
  /** Tools of one name answer alike. */
  readonly groups?: readonly (readonly string[])[];
}

function readSet(name: string): { readonly tools: readonly Tool[]; readonly queries: readonly Question[] } {
  return JSON.parse(readFileSync(join(DATA, `${name}.json`), "utf8"));
}

/** Every server a skill; gives the ids of what is found. */
function openSearch(tools: readonly Tool[], examples: ReadonlyMap<string, readonly MethodExample[]> = new Map()) {
  const servers = new Map<string, Tool[]>();
  for (const tool of tools) servers.set(tool.server || "tools", [...(servers.get(tool.server || "tools") ?? []), tool]);
  const ids = new Map<string, string>();
  const skills = Array.from(servers, ([server, own], number) => {
    const skill = `${toSkillName(server)}${number}`;
    const names = toMethodNames(own.map((tool) => tool.name));
    const methods = own.map(({ id, description, parameters }, at) => {
      const name = names[at] ?? "";
      ids.set(`${skill}.${name}`, id);
      const properties = Object.fromEntries(
        parameters.map((parameter) => [parameter.name, { description: parameter.description ?? "" }]),
      );
      return { name, description, input: { type: "object", properties }, examples: examples.get(id) ?? [] };
    });
    return createSkill(skill, methods, { kind: "mcp", server });
  });
  const catalog = createCatalog(...skills);
  return Object.assign(
    (text: string, words?: ObservedWords): readonly (string | undefined)[] =>
      search(catalog, text, { limit: 5, ...(words !== undefined && { words }) }).results.map(({ path }) =>
        ids.get(path),
      ),
    { catalog, findPath: (id: string) => [...ids].find(([, each]) => each === id)?.[0] ?? "" },
  );
}

function measureRecall(
  find: (text: string) => readonly (string | undefined)[],
  questions: readonly Question[],
): number {
  const shares = questions.map(({ text, relevant, groups = relevant.map((id) => [id]) }) => {
    const found = new Set(find(text));
    return groups.filter((group) => group.some((id) => found.has(id))).length / groups.length;
  });
  return (100 * shares.reduce((sum, share) => sum + share, 0)) / questions.length;
}

describe.skipIf(!existsSync(DATA))("public retrieval sets (skipped where ../shared/data is absent)", () => {
  test.each([
    ["bfcl", 86],
    ["sealtools_dev", 93.5],
    ["metatool_single", 69],
    ["apibank_keywords", 95],
  ])("finds for %s at least %d % among the first five [D1]", (name, least) => {
    const { tools, queries } = readSet(name);
    expect(measureRecall(openSearch(tools), queries)).toBeGreaterThanOrEqual(least);
  });

  test("finds at least eight points more with five examples a method [D1]", () => {
    const { tools, queries } = readSet("metatool_single");
    const examples = new Map<string, MethodExample[]>();
    for (const { text, relevant } of queries.filter((_, at) => at % 2 === 0)) {
      const known = examples.get(relevant[0] ?? "") ?? [];
      if (known.length < 5) examples.set(relevant[0] ?? "", [...known, { request: text }]);
    }
    const others = queries.filter((_, at) => at % 2 === 1);
    const gain = measureRecall(openSearch(tools, examples), others) - measureRecall(openSearch(tools), others);
    expect(gain).toBeGreaterThanOrEqual(8);
  });

  test("finds at least eight points more after searches that led to a call [D1]", () => {
    const { tools, queries } = readSet("metatool_single");
    const find = openSearch(tools);
    const requests = createSearchFeedback();
    for (const { text, relevant } of queries.filter((_, at) => at % 2 === 0)) {
      requests.searched("ada", text, search(find.catalog, text, { words: requests.getWords("ada") }));
      requests.called("ada", find.findPath(relevant[0] ?? ""));
    }
    const others = queries.filter((_, at) => at % 2 === 1);
    const gain = measureRecall((text) => find(text, requests.getWords("ada")), others) - measureRecall(find, others);
    expect(gain).toBeGreaterThanOrEqual(8);
  });
});
