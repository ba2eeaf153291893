// @module-tag rest

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../src/index.ts";
import { describe as describeMethod } from "../../../src/registry/index.ts";
import { estimateTokens } from "../../../src/registry/token-count.ts";
// @ts-expect-error a script that benchmarks use too, without declarations
import { findDocument } from "../../support/api-documents.mjs";

test.each(["github", "stripe"])(
  "no description of a method of %s has more than 1,500 tokens, and each type that it leaves out is there by its name [D3]",
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), "skillgate-declarations-"));
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
    const { catalog } = runtime;
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
