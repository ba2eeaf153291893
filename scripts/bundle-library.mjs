// Bundles the compiled modules, and those of the packages that they need, into a few files, as reading and linking hundreds of
// modules takes longer than most commands. The modules stay beside the bundles for benches; the package contains the bundles only.

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { build } from "esbuild";
import { collectLicences } from "./licences.mjs";
import { ROOT } from "./prepare.mjs";

/** Modules that users import and start, the command line for tests, and threads. They share one copy of each module, in chunks. */
const ENTRIES = {
  "typecheck-worker": "typecheck/worker.js",
  "source-worker": "providers/sources/compile/worker.js",
  "graphql-worker": "providers/sources/graphql/check/worker.js",
  bin: "bin.js",
  cli: "surfaces/cli/index.js",
  index: "index.js",
  agent: "agent/index.js",
  ai: "ai/index.js",
  testing: "testing/index.js",
};

/** Modules that run in a thread or a process of their own, or that skills and tests import by their paths: one file each. */
const STANDALONE = [
  "authoring/define-skill.js",
  "providers/skills/process/child/main.js",
  "providers/skills/process/child/watchdog.js",
  "surfaces/cli/skills/test-reporter.js",
];

/** Threads of the sandbox evaluate its text: it may require nothing. */
const DESCRIBER = "runtime/outcome/describe-result.js";

/** Packages that a user of the library installs: those that it depends on, and those that it uses where they are installed. */
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const INSTALLED = Object.keys({ ...dependencies, ...peerDependencies });

const COMMON = {
  bundle: true,
  format: "esm",
  platform: "node",
  external: INSTALLED,
  // Its ES modules, of which only the ones in use are bundled: two thirds of the other form are not.
  alias: { graphql: "graphql/index.mjs" },
  target: "node20",
  logLevel: "warning",
};

/** Replaces each module of the folder `dist` that runs in a thread or a process of its own by its bundle; bundles of other modules come first. */
export async function bundleStandalone(dist) {
  const src = join(dist, "src");
  const common = { ...COMMON, absWorkingDir: dist };
  await build({
    ...common,
    format: "cjs",
    packages: "external",
    entryPoints: [{ in: join(src, DESCRIBER), out: "describe-result" }],
    outdir: join(dist, "lib"),
    outExtension: { ".js": ".cjs" },
    plugins: [leaveOutUnused()],
  });
  await build({
    ...common,
    entryPoints: STANDALONE.map((file) => join(src, file)),
    outdir: src,
    outbase: src,
    allowOverwrite: true,
  });
}

/** Bundles the modules of the folder `dist` that users import and start. */
export async function bundleLibrary(dist) {
  const src = join(dist, "src");
  const lib = join(dist, "lib");
  const { metafile } = await build({
    ...COMMON,
    absWorkingDir: dist,
    metafile: true,
    entryPoints: Object.entries(ENTRIES).map(([out, file]) => ({ in: join(src, file), out })),
    outdir: lib,
    splitting: true,
    chunkNames: "[name]-[hash]",
    plugins: [leaveSandboxOutside(), moveUrls(src, lib)],
  });
  writeFileSync(join(lib, "licences.txt"), collectLicences(Object.keys(metafile.inputs)));
  for (const [name, file] of Object.entries(ENTRIES)) writeEntry(join(src, file), join(lib, `${name}.js`));
}

/** Leaves out modules of which nothing is used, whatever they do when they are loaded. */
function leaveOutUnused() {
  return {
    name: "leave-out-unused",
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => ({
        path: join(resolveDir, path),
        sideEffects: false,
      }));
    },
  };
}

/** The sandbox is bundled by itself, beside its threads. */
function leaveSandboxOutside() {
  return {
    name: "leave-sandbox-outside",
    setup({ onResolve }) {
      onResolve({ filter: /\/sandbox\/index\.js$/ }, () => ({ path: "../sandbox/index.js", external: true }));
    },
  };
}

/** Rewrites literal URLs of files in `dist` for the place of the bundles. Tracers of files read them there, too. */
function moveUrls(src, lib) {
  return {
    name: "move-urls",
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (relative(src, path).startsWith("..")) return undefined;
        const move = (literal, url) => {
          const target = join(dirname(path), url);
          if (!existsSync(target)) return literal; // text in a template
          const moved = relative(lib, target).replaceAll("\\", "/");
          return literal.replace(`"${url}"`, `"${moved}${url.endsWith("/") ? "/" : ""}"`);
        };
        return { contents: readFileSync(path, "utf8").replace(/\bnew URL\("([^"]+)", import\.meta\.url\)/g, move) };
      });
    },
  };
}

/** Replaces a module by one that loads its bundle, so that the entries of the package keep their paths. */
function writeEntry(file, bundle) {
  const specifier = JSON.stringify(relative(dirname(file), bundle).replaceAll("\\", "/"));
  const isProgram = readFileSync(file, "utf8").startsWith("#!");
  writeFileSync(file, isProgram ? `#!/usr/bin/env node\nimport ${specifier};\n` : `export * from ${specifier};\n`);
  if (isProgram) chmodSync(file, 0o755);
}
