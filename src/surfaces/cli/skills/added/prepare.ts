import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { SkillgateError } from "../../../../errors.ts";
import type { InspectedModule } from "../../../../providers/skills/index.ts";
import { count, escaped, lines } from "../../text/layout.ts";
import { createUnknownValueError } from "../../usage-error.ts";
import { requireFileStem } from "../local-skills.ts";
import { copySkill, digestFiles, digestSkill, type SkillFiles } from "./files.ts";
import type { AddedSkill } from "./record.ts";
import { fetchSource, findSkills, type FoundSkill, readPackage, type SkillOrigin } from "./source.ts";

/** A skill from elsewhere, in a temporary folder, before it is added. Nothing of it was run. */
export interface PreparedSkill extends AddedSkill {
  readonly stem: string;
  readonly folder: string;
  readonly files: SkillFiles;
  readonly module: InspectedModule;
  /** Packages that it needs, as arguments of `npm install`. */
  readonly needed: readonly string[];
}

/** The skills to take of a source. */
export interface Selection {
  /** The names of skills in the source; all if it is empty. */
  readonly parts: readonly string[];
  /** The name of the skill here, if it is one. */
  readonly name?: string | undefined;
}

/** Gets skills into a temporary folder, which `use` may move away, and reads what they are. */
export async function withFetched<Result>(
  source: SkillOrigin,
  selection: Selection,
  {
    signal,
    use,
  }: { readonly signal: AbortSignal; readonly use: (skills: readonly PreparedSkill[]) => Promise<Result> },
): Promise<Result> {
  const temporary = await realpath(await mkdtemp(join(tmpdir(), "skillgate-added-")));
  try {
    const fetched = await fetchSource(source, { temporary, signal });
    const found = select(await findSkills(fetched), selection);
    const skills: PreparedSkill[] = [];
    for (const each of found) {
      const stem = requireFileStem(selection.name ?? each.stem);
      const isWhole = each.path === fetched.folder;
      const origin = { source, part: isWhole ? "" : each.stem, version: fetched.version };
      skills.push({
        ...origin,
        stem,
        ...(await prepareSkill(each, join(temporary, "prepared", String(skills.length)), stem)),
      });
    }
    return await use(skills);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function select(found: readonly FoundSkill[], { parts, name }: Selection): readonly FoundSkill[] {
  const stems = found.map(({ stem }) => stem);
  const unknown = parts.find((part) => !stems.includes(part));
  if (unknown !== undefined) throw createUnknownValueError("skill of the source", unknown, stems);
  const chosen = parts.length === 0 ? found : found.filter(({ stem }) => parts.includes(stem));
  if (name === undefined || chosen.length === 1) return chosen;
  throw new SkillgateError(
    "SKILL_INVALID",
    `--name names one skill, and the source has ${chosen.length}: ${stems.join(", ")}`,
    {
      fix: "Choose one with --only",
    },
  );
}

async function prepareSkill(
  { path, stem: original }: FoundSkill,
  parent: string,
  stem: string,
): Promise<Pick<PreparedSkill, "folder" | "files" | "digest" | "module" | "needed">> {
  const folder = join(parent, stem);
  await copySkill(path, folder, stem);
  const { inspectSkills } = await import("../../../../providers/skills/index.ts");
  const { modules, problems } = await inspectSkills(parent);
  const [module] = modules;
  if (module === undefined) {
    const why =
      problems[0] ?? `it has no entry: skill.ts, ${stem}.ts, main.ts or index.ts, the same in JavaScript, or SKILL.md`;
    throw new SkillgateError("SKILL_INVALID", `Cannot add the skill ${escaped(original)}: ${escaped(why)}`);
  }
  const { dependencies } = await readPackage(folder);
  const files = await digestFiles(folder);
  return { folder, files, digest: digestSkill(files), module, needed: formatNeeded(module.packages, dependencies) };
}

/** Returns the packages with the versions that the skill's own package.json names. */
function formatNeeded(packages: readonly string[], dependencies: unknown): readonly string[] {
  const versions = new Map(Object.entries(dependencies ?? {}));
  return packages.map((name) => {
    const version = versions.get(name);
    return typeof version === "string" && /^[\w.^~*<>=| -]+$/.test(version) ? `${name}@${version}` : name;
  });
}

/** Says what a skill is and what it may reach, for the person who decides about it. */
export function describeSkill({ module, stem, source, part, version, digest, files, needed }: PreparedSkill): string {
  const reach = [...module.builtins, ...module.network];
  const rows: readonly (readonly [string, string])[] = [
    ["from", [source.kind, source.text, part, version].filter((each) => each !== "").join(" ")],
    ["SHA-256", digest],
    ["methods", module.methods.join(", ") || "known when it runs"],
    ["uses", reach.join(", ") || "nothing of Node that reaches files, processes or the network"],
    ["packages", needed.join(", ") || "none"],
    [
      "files",
      `${count(files.size, "file")}: ${[...files.keys()].slice(0, MAX_SHOWN_FILES).join(", ")}${files.size > MAX_SHOWN_FILES ? ", …" : ""}`,
    ],
  ];
  return lines([
    `${module.skill} in skills/${stem}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(9)} ${escaped(text)}`),
  ]);
}

const MAX_SHOWN_FILES = 8;
