// The declarations of the package: one file for each entry point, and one with everything that they share.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";
import ts from "typescript";

/** The entry points, and the compiled module that each stands for. */
const ENTRIES = {
  index: "src/index.d.ts",
  agent: "src/agent/index.d.ts",
  ai: "src/ai/index.d.ts",
  testing: "src/testing/index.d.ts",
};

/** Packages whose types become part of the declarations: a user of the package may not have installed them. */
const INCLUDED = ["@ai-sdk/provider"];

/** Replaces the declarations of the modules, in `folder`, by those of the entry points, in the folder `types`. */
export async function bundleTypes(folder, types) {
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(folder, file)]));
  const entries = new Set(Object.values(input));
  const bundle = await rollup({
    input,
    external: (id) => !INCLUDED.includes(id) && !id.startsWith(".") && !id.startsWith("/") && !/^[a-z]:[\\/]/i.test(id),
    plugins: [dts({ includeExternal: INCLUDED })],
    onwarn: () => {}, // types that no entry point exports: `exportNamedTypes` adds them
  });
  await bundle.write({
    dir: types,
    format: "es",
    minifyInternalExports: false,
    manualChunks: (id) => (entries.has(id) ? undefined : "shared"),
    chunkFileNames: "shared.d.ts",
  });
  await bundle.close();
  rmSync(folder, { recursive: true });
  replaceJsonSchema(types);
  exportNamedTypes(types);
}

/** The types of JSON Schema are a package of their own, which users may not have; here any schema will do. */
function replaceJsonSchema(types) {
  for (const file of readdirSync(types).map((name) => join(types, name))) {
    const text = readFileSync(file, "utf8").replace(/^import ['"]json-schema['"];\n/m, "");
    writeFileSync(
      file,
      text.replace(/^import \{ JSONSchema7 \} from ['"]json-schema['"];$/m, "type JSONSchema7 = any;"),
    );
  }
}

/** Exports every type that a public signature names, so that a program can name it too. */
function exportNamedTypes(types) {
  const entries = Object.keys(ENTRIES).map((name) => join(types, `${name}.d.ts`));
  const missing = findUnexportedTypes(entries);
  if (missing.length === 0) return;
  const shared = join(types, "shared.d.ts");
  const text = readFileSync(shared, "utf8");
  const internal = missing.filter((name) => !new RegExp(`^export (?:type )?\\{.*\\b${name}\\b`, "m").test(text));
  writeFileSync(shared, `${text}\nexport type { ${internal.join(", ")} };\n`);
  const [index] = entries;
  writeFileSync(index, `${readFileSync(index, "utf8")}\nexport type { ${missing.join(", ")} } from "./shared.js";\n`);
}

/** Names of the types of these files that exported declarations refer to, directly or through others, and that no file exports. */
export function findUnexportedTypes(files) {
  const options = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    noEmit: true,
    noLib: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  // Types of packages are not ours, so their files are not read.
  host.resolveModuleNameLiterals = (names, file) =>
    names.map(({ text }) =>
      text.startsWith(".") ? ts.resolveModuleName(text, file, options, host) : { resolvedModule: undefined },
    );
  const program = ts.createProgram(files, options, host);
  const checker = program.getTypeChecker();
  const follow = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);
  const getExports = (file) => checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)));
  const exported = new Set(files.flatMap(getExports).map(follow));
  const folder = join(files[0], "..").replaceAll("\\", "/");
  const found = new Set();
  const queue = [...exported];
  const visit = (node) => {
    const name = ts.isTypeReferenceNode(node)
      ? node.typeName
      : ts.isExpressionWithTypeArguments(node)
        ? node.expression
        : undefined;
    const symbol = name && checker.getSymbolAtLocation(name);
    if (symbol !== undefined) add(follow(symbol));
    ts.forEachChild(node, visit);
  };
  const add = (symbol) => {
    const isOurs = symbol.declarations?.[0]?.getSourceFile().fileName.startsWith(folder);
    if (!isOurs || symbol.flags & ts.SymbolFlags.TypeParameter || exported.has(symbol) || found.has(symbol)) return;
    found.add(symbol);
    queue.push(symbol);
  };
  for (let symbol = queue.pop(); symbol !== undefined; symbol = queue.pop()) symbol.declarations?.forEach(visit);
  return [...found].map(({ name }) => name).sort((a, b) => (a < b ? -1 : 1));
}
