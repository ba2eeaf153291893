import { createRequire } from "node:module";

/** The version in package.json; the package refers to itself, so it is found from sources and from dist alike. */
export const VERSION = (createRequire(import.meta.url)("skillgate/package.json") as { readonly version: string })
  .version;
