import { existsSync } from "node:fs";
import { join } from "node:path";

import { installAside } from "../support/install-aside.mjs";

/** Installs one package into a folder of its own. Returns its name, its version and its folder, or what went wrong. */
export function installOne(folder, wanted) {
  const at = wanted.lastIndexOf("@");
  const [name, version] = [wanted.slice(0, at), wanted.slice(at + 1)];
  const home = join(folder, name.replace("/", "+"));
  const isThere = existsSync(join(home, "node_modules", name, "package.json"));
  const isInstalled = isThere || installAside(home, [wanted], "--ignore-scripts", "--loglevel=error");
  return { name, version, home, ...(!isInstalled && { problem: "does not install" }) };
}
