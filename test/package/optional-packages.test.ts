import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { explainMissing, OPTIONAL_PACKAGES } from "../../src/shared/package/optional-package.ts";

const MANIFEST = JSON.parse(readFileSync("package.json", "utf8")) as Record<string, Record<string, unknown>>;

test("tests each optional package in the version that the message names", () => {
  for (const [name, version] of Object.entries(OPTIONAL_PACKAGES)) {
    expect(MANIFEST["devDependencies"]?.[name]).toBe(version);
    expect(MANIFEST["peerDependencies"]?.[name]).toBe(`^${version}`);
    expect(MANIFEST["peerDependenciesMeta"]?.[name]).toEqual({ optional: true });
  }
});

test("says in one sentence what to install", async () => {
  const missing = Object.assign(new Error("Cannot find package 'postgres' imported from /a/b.js"), {
    code: "ERR_MODULE_NOT_FOUND",
  });
  const explain = explainMissing("a store in PostgreSQL", "postgres");
  expect(() => explain(missing)).toThrow(
    "Cannot load an optional package: a store in PostgreSQL needs postgres; run: npm install postgres@3.4.9 (PACKAGE_MISSING)",
  );
});

test("passes on what fails inside a package that is installed", () => {
  const explain = explainMissing("a store in PostgreSQL", "postgres");
  for (const message of ["Cannot find package 'inner' imported from /a/postgres/b.js", "no memory"]) {
    const error = Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" });
    expect(() => explain(error)).toThrow(error);
  }
});
