import { createRequire } from "node:module";
import { dirname } from "node:path";

/** Where this package is installed, whether it runs from its sources or from `dist`. */
export const PACKAGE_FOLDER = dirname(createRequire(import.meta.url).resolve("skillgate/package.json"));
