import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** The folder beside a bundle where a copy of `dist` is searched. */
const COPY = "skillgate";

/** A file that exists in each `dist`. */
const SAMPLE_FILE = "sandbox/worker.cjs";

let dist: URL | undefined;

/**
 * Returns a compiled file, such as `sandbox/worker.cjs`, which is started or read by its path. `getUrl` returns its URL
 * relative to the module that asks, as a literal, which tracers of files read. Where that is another place (the module runs
 * from its source, or as part of a bundle), the file of the installed package is returned. Throws if the package is not
 * found.
 */
export function findPackageFile(path: string, getUrl: () => URL): URL {
  const url = moduleUrl() === undefined ? undefined : getUrl();
  if (url?.pathname.endsWith(`/${path}`) === true && existsSync(url)) return url;
  return new URL(path, (dist ??= findDist()));
}

/** Returns the folder `dist` of the package. Throws if the package is not found. */
export function findPackageFolder(): URL {
  return new URL(
    "../",
    findPackageFile(SAMPLE_FILE, () => new URL("./worker.cjs", import.meta.url)),
  );
}

/** Returns `require` for the dependencies of the package, also where this code is part of a bundle. */
export function createPackageRequire(): NodeJS.Require {
  return createRequire(new URL(SAMPLE_FILE, findPackageFolder()));
}

/** The URL of this module, or of the bundle that it is part of. Bundles in the form of CommonJS have no `import.meta.url`. */
function moduleUrl(): string | undefined {
  const { url }: { readonly url?: string } = import.meta;
  return url;
}

function findDist(): URL {
  const bundle = moduleUrl() ?? (typeof __filename === "string" ? pathToFileURL(__filename).href : undefined);
  const candidates = bundle === undefined ? [] : [new URL(`./${COPY}/`, bundle), ...findInstalledDist(bundle)];
  const found = candidates.find((url) => existsSync(new URL(SAMPLE_FILE, url)));
  if (found !== undefined) return found;
  throw new Error(
    'Cannot find the files of Skillgate beside a bundle: install the package "skillgate" there, ' +
      `or copy its folder "dist" to "${COPY}" in the folder of the bundle`,
  );
}

/** Returns `dist` of the package that `importer` imports as "skillgate"; the package itself is one of its importers. */
function findInstalledDist(importer: string): readonly URL[] {
  try {
    return [new URL("dist/", pathToFileURL(createRequire(importer).resolve("skillgate/package.json")))];
  } catch {
    return []; // another place is tried
  }
}
