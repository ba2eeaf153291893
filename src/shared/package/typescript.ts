import type * as TypeScript from "typescript";

import { createPackageRequire } from "../../../sandbox/package-files.ts";
import { isMissing } from "./optional-package.ts";

/** The compiler, or why it cannot be used. */
export type Compiler =
  | { readonly kind: "found"; readonly ts: typeof TypeScript; readonly version: string }
  | { readonly kind: "missing" }
  | { readonly kind: "unusable"; readonly why: string };

/** Returns the version of the TypeScript that is installed, without loading it. */
export function findTypeScript(): { readonly version: string; readonly why?: string } | undefined {
  try {
    const { version } = createPackageRequire()("typescript/package.json") as { readonly version: string };
    const [major = 0, minor = 0] = version.split(".").map(Number);
    const isUsable = major === 6 || (major === 5 && minor >= 9);
    if (isUsable) return { version };
    const reason = major >= 7 ? "has no interface for other programs" : "is too old";
    return { version, why: `TypeScript ${version} ${reason}; run: npm install --save-dev typescript@6` };
  } catch (error) {
    if (isMissing(error, "typescript/package.json")) return undefined;
    throw error;
  }
}

/** Loads the compiler, which takes about a quarter of a second. */
export function loadTypeScript(): Compiler {
  const installed = findTypeScript();
  if (installed === undefined) return { kind: "missing" };
  const { version, why } = installed;
  if (why !== undefined) return { kind: "unusable", why };
  return { kind: "found", ts: createPackageRequire()("typescript") as typeof TypeScript, version };
}
