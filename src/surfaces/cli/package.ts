import { createRequire } from "node:module";
import { dirname } from "node:path";

const require = createRequire(import.meta.url);

/** Where this package is installed, whether it runs from its sources or from `dist`. */
export const PACKAGE_FOLDER = dirname(require.resolve("skillgate/package.json"));

/** What package.json says of this package. */
export const { version: VERSION } = require("skillgate/package.json") as { readonly version: string };
