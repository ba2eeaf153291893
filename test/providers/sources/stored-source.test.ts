import { mkdtempSync, rmSync } from "node:fs";
import type * as fileSystem from "node:fs/promises";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test, vi } from "vitest";

import { CatalogWriter } from "../../../src/providers/sources/catalog-writer.ts";
import { OPENAPI_FORMAT, openCatalog } from "../../../src/providers/sources/openapi/open-catalog.ts";
import { StoredSource } from "../../../src/providers/sources/stored-source.ts";

let linkError: NodeJS.ErrnoException | undefined;

vi.mock("node:fs/promises", async (load) => {
  const promises = await load<typeof fileSystem>();
  const link: typeof fileSystem.link = async (from, to) => {
    if (linkError !== undefined) throw linkError;
    await promises.link(from, to);
  };
  return { ...promises, link };
});

const createError = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

test.each([undefined, createError("EPERM"), createError("ENOTSUP")])(
  "the accepted catalog stays when a later one is stored, also on a file system without links: %s [M8]",
  async (error) => {
    const folder = mkdtempSync(join(tmpdir(), "skillgate-stored-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    linkError = error;
    const stored = new StoredSource(folder, "key", openCatalog);
    const store = async (title: string): Promise<void> => {
      const document = { title, version: "", description: "", servers: [], problems: [] };
      await stored.replace(async (file) => {
        await writeFile(file, new CatalogWriter(OPENAPI_FORMAT).finish(document, new Map()));
        return { kind: "compiled", digest: title };
      });
    };
    for (const title of ["first", "second", "third"]) await store(title);
    const accepted = stored.openAccepted();
    if (typeof accepted !== "object") throw new Error(`The accepted catalog is ${accepted}`);
    onTestFinished(() => accepted.close());
    expect(accepted.index.title).toBe("first");
  },
);
