import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, beforeEach } from "vitest";

import type { Database, StoreLocation } from "../../src/store/index.ts";
import { startPostgres } from "./servers/postgres.ts";

/** The kinds of databases that outlive a process, each with a function that returns the place of a new one. */
export type DatabaseKinds = readonly (readonly [kind: Database["kind"], makeLocation: () => StoreLocation])[];

/** Starts PostgreSQL for the tests of a file, and creates a folder for each test, which `getFolder` returns. */
export async function prepareDatabases(): Promise<{ readonly kinds: DatabaseKinds; readonly getFolder: () => string }> {
  const postgres = await startPostgres();
  afterAll(() => postgres?.close());
  let folder: string;
  let places = 0;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "skillgate-database-"));
  });
  afterEach(() => rm(folder, { recursive: true }));
  const makeFolder = (): string => join(folder, String(++places));
  const kinds: DatabaseKinds = [["sqlite", () => ({ folder: makeFolder() })]];
  if (postgres === undefined) return { kinds, getFolder: () => folder };
  return {
    kinds: [...kinds, ["postgres", () => ({ folder: makeFolder(), url: postgres.url() })]],
    getFolder: () => folder,
  };
}
