// The guest's modules, compiled, as a list of scripts. Each is evaluated by itself, after those that it imports: what
// the engine needs to compile one is free again before the next, so the image is little more than what stays.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parse } from "acorn";

/** The scripts in order. Each is a function of one object that holds the exports of every module before it. */
export function linkGuest(entry) {
  const folder = dirname(entry);
  const scripts = new Map();
  const add = (file) => {
    if (scripts.has(file)) return;
    scripts.set(file, undefined); // a circle of imports finds an export that is not there, and the build fails
    const code = readFileSync(file, "utf8");
    const { body } = parse(code, { ecmaVersion: "latest", sourceType: "module" });
    const imports = body.filter(({ type }) => type === "ImportDeclaration");
    for (const { source } of imports) add(join(dirname(file), source.value));
    scripts.delete(file);
    scripts.set(
      file,
      toScript(code, body, (name) => JSON.stringify(relative(folder, name)), file),
    );
  };
  add(entry);
  return [...scripts.values()];
}

function toScript(code, body, getModuleKey, file) {
  const exported = [];
  let script = "";
  let at = 0;
  const replace = ({ start, end }, text) => {
    script += code.slice(at, start) + text;
    at = end;
  };
  for (const node of body) {
    if (node.type === "ImportDeclaration")
      replace(node, formatImport(node, getModuleKey(join(dirname(file), node.source.value))));
    else if (node.type === "ExportNamedDeclaration" && node.declaration !== null) {
      exported.push(...getDeclaredNames(node.declaration));
      replace({ start: node.start, end: node.declaration.start }, "");
    } else if (node.type === "ExportNamedDeclaration" && node.source === null) {
      exported.push(...node.specifiers.map(({ local, exported: to }) => `${to.name}: ${local.name}`));
      replace(node, "");
    } else if (/^(Export|Import)/.test(node.type)) throw new Error(`Cannot link ${file}: ${node.type}`);
  }
  return `(function (parts) {"use strict";\n${script}${code.slice(at)}\nparts[${getModuleKey(file)}] = { ${exported.join(", ")} };\n})`;
}

function formatImport({ specifiers }, key) {
  const names = specifiers.map(({ imported, local }) => `${imported.name}: ${local.name}`);
  return names.length === 0 ? "" : `const { ${names.join(", ")} } = parts[${key}];`;
}

function getDeclaredNames(declaration) {
  if (declaration.id) return [declaration.id.name];
  return declaration.declarations.flatMap(({ id }) =>
    id.type === "ObjectPattern" ? id.properties.map(({ value }) => value.name) : [id.name],
  );
}
