// Makes the links of README.md absolute while npm packs it, as npm shows the page outside of the repository:
// node scripts/package-links.mjs absolute | relative. The address is `repository.url` in package.json; without one, links
// stay relative and point to files of the package.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const README = "README.md";
/** The page as it is in the repository, while npm packs the other one. */
const ORIGINAL = join(".cache", "README.packing.md");

if (process.argv[2] === "absolute") makeAbsolute();
else if (process.argv[2] === "relative") restore();

function makeAbsolute() {
  restore();
  const { repository, version } = JSON.parse(readFileSync("package.json", "utf8"));
  const address = toWebAddress(repository?.url ?? "");
  if (address === "") {
    console.error(`package.json has no repository.url; the links of ${README} stay relative`);
    return;
  }
  const text = readFileSync(README, "utf8");
  mkdirSync(".cache", { recursive: true });
  writeFileSync(ORIGINAL, text);
  writeFileSync(README, toAbsoluteLinks(text, `${address}`, `v${version}`));
}

/** Also repairs the page after a packing that was interrupted. */
function restore() {
  if (existsSync(ORIGINAL)) renameSync(ORIGINAL, README);
}

/** `git+https://host/owner/name.git` → `https://host/owner/name` */
function toWebAddress(url) {
  return url.replace(/^git\+/, "").replace(/\.git$/, "");
}

/** Images need the file itself, other links the page that shows the file. */
function toAbsoluteLinks(text, address, tag) {
  return text.replaceAll(/(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, mark, label, target) => {
    const kind = mark === "!" ? "raw" : "blob";
    return `${mark}[${label}](${address}/${kind}/${tag}/${target})`;
  });
}
