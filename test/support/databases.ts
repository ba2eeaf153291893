import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, beforeEach } from "vitest";

import type { Database, StoreLocation } from "../../src/store/index.ts";
import { findPostgres, type PostgresServer, sharePostgres, startPostgres } from "./servers/postgres.ts";

/** The kinds of databases that outlive a process, each with a function that returns the place of a new one. */
export type DatabaseKinds = readonly (readonly [kind: Database["kind"], makeLocation: () => StoreLocation])[];

/** The server of PostgreSQL of a test file. It runs while the tests of the file run, and not in a file whose tests are left out. */
export type FilePostgres = Pick<PostgresServer, "url" | "kill" | "start">;

/** Starts PostgreSQL before the tests of a file, and stops it after them; `undefined` where it is not installed. */
export function usePostgres(): FilePostgres | undefined {
  const programs = findPostgres();
  if (programs === undefined) return undefined;
  let server: PostgresServer | undefined;
  const get = (): PostgresServer => {
    if (server === undefined) throw new TypeError("PostgreSQL runs only while the tests run");
    return server;
  };
  beforeAll(async () => {
    server = await startPostgres(programs);
  });
  afterAll(() => server?.close());
  return { url: () => get().url(), kill: () => get().kill(), start: () => get().start() };
}

/** Returns the URLs of the PostgreSQL that the files of a process share; `undefined` where it is not installed. */
export function shareFilePostgres(): Pick<PostgresServer, "url"> | undefined {
  const programs = findPostgres();
  if (programs === undefined) return undefined;
  let createUrl: PostgresServer["url"] | undefined;
  beforeAll(async () => {
    createUrl = await sharePostgres(programs);
  });
  return {
    url() {
      if (createUrl === undefined) throw new TypeError("PostgreSQL runs only while the tests run");
      return createUrl();
    },
  };
}

/** Starts PostgreSQL for the tests of a process, and creates a folder for each test, which `getFolder` returns. */
export function prepareDatabases(): { readonly kinds: DatabaseKinds; readonly getFolder: () => string } {
  const postgres = shareFilePostgres();
  let folder: string;
  let places = 0;
  beforeEach(async ({ onTestFinished }) => {
    const created = await mkdtemp(join(tmpdir(), "skillgate-database-"));
    folder = created;
    // Registered first, so it runs last: when all that the test has opened is closed.
    onTestFinished(() => rm(created, { recursive: true }));
  });
  const makeFolder = (): string => join(folder, String(++places));
  const kinds: DatabaseKinds = [["sqlite", () => ({ folder: makeFolder() })]];
  if (postgres === undefined) return { kinds, getFolder: () => folder };
  return {
    kinds: [...kinds, ["postgres", () => ({ folder: makeFolder(), url: postgres.url() })]],
    getFolder: () => folder,
  };
}
