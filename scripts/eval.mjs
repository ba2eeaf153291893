// Lets a model solve the tasks of evals/, and checks how each one ends: `npm run eval -- evals --model PROVIDER:NAME`.

import { rmSync } from "node:fs";
import { build } from "esbuild";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./prepare.mjs";

const outfile = join(ROOT, ".cache", `eval-${process.pid}.mjs`);
const options = { bundle: true, format: "esm", platform: "node", packages: "external", target: "node20" };
await build({ entryPoints: [join(ROOT, "evals/tool/index.ts")], outfile, logLevel: "warning", ...options });
process.on("exit", () => rmSync(outfile, { force: true }));
await import(pathToFileURL(outfile).href);
