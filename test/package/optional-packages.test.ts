import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { explainMissing, isGlobal, OPTIONAL_PACKAGES } from "../../src/shared/package/optional-package.ts";

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

test("knows a package that npm has installed for the user, which finds no packages of a project", () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-global-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "node_modules", "skillgate", "dist", "lib", "part.js");
  expect(isGlobal(file)).toBe(true);
  writeFileSync(join(folder, "package.json"), "{}");
  expect(isGlobal(file)).toBe(false);
  expect(isGlobal(join(folder, "clone", "dist", "lib", "part.js"))).toBe(false);
});

test("installs in the image the packages that the compose file needs, in the tested versions", () => {
  const image = readFileSync("deploy/Dockerfile", "utf8");
  for (const name of ["postgres", "@nats-io/transport-node"] as const)
    expect(image).toContain(` ${name}@${OPTIONAL_PACKAGES[name]}`);
});

test("passes on what fails inside a package that is installed", () => {
  const explain = explainMissing("a store in PostgreSQL", "postgres");
  for (const message of ["Cannot find package 'inner' imported from /a/postgres/b.js", "no memory"]) {
    const error = Object.assign(new Error(message), { code: "ERR_MODULE_NOT_FOUND" });
    expect(() => explain(error)).toThrow(error);
  }
});
