// The licences of packages whose modules become part of ours.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./prepare.mjs";

/** Returns the licence of each package that a bundle contains, as the package states it. `inputs` are the files of the bundle. */
export function collectLicences(inputs) {
  const folders = new Set(inputs.flatMap((input) => PACKAGE_FOLDER.exec(input)?.[1] ?? []));
  const texts = [...folders]
    .sort((a, b) => (a < b ? -1 : 1))
    .map((path) => {
      const folder = join(ROOT, path);
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    });
  return texts.join("\n----\n\n");
}

/** The folder of the package of a file, also where it lies in the folder of another package. */
const PACKAGE_FOLDER = /^(?:\.\.\/)*((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//;
