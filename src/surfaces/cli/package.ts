import { createRequire } from "node:module";
import { dirname } from "node:path";

/** The folder in which this package is installed, whether it runs from its sources or from `dist`. */
export const PACKAGE_FOLDER = dirname(createRequire(import.meta.url).resolve("skillgate/package.json"));
