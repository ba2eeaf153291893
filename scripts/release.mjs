// `npm run release -- VERSION`: sets the version, dates the section of the changelog, packs, commits and tags. The workflow
// `release` publishes a pushed tag with provenance.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { npm } from "./prepare.mjs";

const CHANGELOG = "CHANGELOG.md";

const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:-[\w.-]+)?$/;

const [version = ""] = process.argv.slice(2);
try {
  release(version);
} catch (error) {
  console.error(`Cannot release: ${error.message}`);
  process.exitCode = 1;
}

function release(version) {
  const { name, version: current } = JSON.parse(readFileSync("package.json", "utf8"));
  requireNext(version, current);
  requireCommitted();
  if (git("tag", "--list", `v${version}`) !== "") throw new Error(`the tag v${version} exists`);
  const changelog = dateSection(readFileSync(CHANGELOG, "utf8"), version);
  if (version !== current) runNpm("version", version, "--no-git-tag-version");
  writeFileSync(CHANGELOG, changelog);
  try {
    const [{ filename, size, entryCount }] = JSON.parse(runNpm("pack", "--json"));
    console.log(`Packed ${filename}: ${entryCount} files, ${(size / 2 ** 20).toFixed(1)} MB`);
    git("add", "package.json", CHANGELOG, ...(existsSync("package-lock.json") ? ["package-lock.json"] : []));
    git("commit", "--quiet", "--message", `release: ${version}`);
    git("tag", "--annotate", `v${version}`, "--message", `${name} ${version}`);
  } catch (error) {
    git("checkout", "--quiet", "HEAD", "--", ".");
    throw error;
  }
  console.log(`Tagged v${version}. Publish it with: git push --follow-tags`);
}

/** Throws unless the version is the current one or a later one. */
function requireNext(version, current) {
  if (!SEMVER.test(version)) throw new Error(`write the version, such as npm run release -- ${current}`);
  const [next, last] = [version, current].map((text) => SEMVER.exec(text).slice(1, 4).map(Number));
  const index = next.findIndex((part, at) => part !== last[at]);
  if (index >= 0 && next[index] < last[index]) throw new Error(`${version} is older than ${current}`);
}

function requireCommitted() {
  const changes = git("status", "--porcelain", "--untracked-files=no");
  if (changes !== "") throw new Error(`commit these changes first:\n${changes}`);
}

/** Writes the date into the heading of a section, which must have content. */
function dateSection(text, version) {
  const heading = `## [${version}] - unreleased`;
  const [before, after] = text.split(heading);
  if (after === undefined) throw new Error(`${CHANGELOG} has no section "${heading}"`);
  const [content] = after.split(/^## /m);
  if (!/^- /m.test(content)) throw new Error(`the section ${version} of ${CHANGELOG} lists no change`);
  return `${before}## [${version}] - ${new Date().toISOString().slice(0, 10)}${after}`;
}

function git(...args) {
  return execFileSync("git", args, { encoding: "utf8" }).trimEnd();
}

function runNpm(...args) {
  const [command, ...first] = npm();
  return execFileSync(command, [...first, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
}
