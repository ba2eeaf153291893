import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createError } from "../../errors.ts";

/** Packages that a user installs for what needs them, in the versions that the tests use. */
export const OPTIONAL_PACKAGES = {
  "@ai-sdk/anthropic": "3.0.139",
  "@ai-sdk/openai-compatible": "2.0.91",
  "@nats-io/transport-node": "3.4.0",
  libsql: "0.5.29",
  postgres: "3.4.9",
} as const;

export type OptionalPackage = keyof typeof OPTIONAL_PACKAGES;

/** Returns what to run in a terminal, such as `npm install postgres@3.4.9`. */
export function formatInstall(...names: readonly OptionalPackage[]): string {
  const packages = names.map((name) => `${name}@${OPTIONAL_PACKAGES[name]}`).join(" ");
  return isGlobal(fileURLToPath(import.meta.url)) ? `npm install --global ${packages}` : `npm install ${packages}`;
}

/** True for a file of a package that npm has installed for the user: it finds only packages that are installed in the same way. */
export function isGlobal(file: string): boolean {
  const [, folder] = /^(.*)[/\\]node_modules[/\\]skillgate[/\\]/.exec(file) ?? [];
  return folder !== undefined && !existsSync(join(folder, "package.json"));
}

/**
 * Returns the handler of an import that failed: it throws `PACKAGE_MISSING` if one of the packages is not installed, else
 * the error of the import. Bundlers of other programs see by a handler that a package is optional.
 */
export function explainMissing(purpose: string, ...names: readonly OptionalPackage[]): (error: unknown) => never {
  return (error) => {
    if (!names.some((name) => isMissing(error, name))) throw error;
    const values = `${purpose} needs ${names.join(" and ")}; run: ${formatInstall(...names)}`;
    throw createError("PACKAGE_MISSING", values, { fix: formatInstall(...names) });
  };
}

/** True if the package itself is not installed: what is missing inside it is another error. */
export function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  const isNotFound = error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND";
  return isNotFound && /^Cannot find (?:package|module) '([^']+)'/.exec(error.message)?.[1] === name;
}
