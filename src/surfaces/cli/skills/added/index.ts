import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import { makeFolder } from "../../../../shared/files/make-folder.ts";
import { createUnknownNameError } from "../../../../shared/suggest.ts";
import type { CliCommand, CommandResult } from "../../command.ts";
import { loadConfigModule } from "../../mcp/files.ts";
import type { CliSession } from "../../session.ts";
import { toWriteError } from "../../input/write-files.ts";
import { requireYes } from "../../terminal/ask.ts";
import { lines, shownPath } from "../../text/layout.ts";
import { UsageError } from "../../usage-error.ts";
import { compareFiles, copySkill, digestFiles, digestSkill } from "./files.ts";
import { describeSkill, type PreparedSkill, withFetched } from "./prepare.ts";
import { type AddedSkill, changeAdded, getRecordFile, readAdded, writeAdded } from "./record.ts";
import { parseSource } from "./source.ts";

interface AddSkillFlags {
  readonly only: readonly string[];
  readonly name?: string;
  readonly yes?: true;
}

export function addSkillsAdd(skills: CliCommand): void {
  skills
    .command("add")
    .description("add skills from a folder, a git address or an npm package, after showing what they are")
    .argument(
      "<source>",
      "a folder, a .tgz file, https://host/repository.git#branch, github:owner/repository, or name@1.2.3",
    )
    .option("--only <names...>", "take only these skills of the source", [])
    .option("--name <name>", "the name of the skill here")
    .option("-y, --yes", "skip the confirmation")
    .addHelpText("after", ADD_HELP)
    .run(async (session, text: string, flags: AddSkillFlags) => {
      const { ownSkills } = await session.folders();
      const selection = { parts: flags.only, name: flags.name };
      return withFetched(parseSource(text), selection, {
        signal: session.signal,
        use: (prepared) => addAll(prepared, ownSkills, { isSure: flags.yes === true, session }),
      });
    });
}

const ADD_HELP = `
Nothing of a skill runs before you have agreed: no script of a package, no hook of git. Added skills are listed with their
source and digest in skills/.added.json.

Examples:
  skillgate skills add ../shared/weather
  skillgate skills add https://example.com/team/skills.git#v2 --only weather
  skillgate skills add skillgate-skill-weather@1`;

async function addAll(
  prepared: readonly PreparedSkill[],
  skillsFolder: string,
  { isSure, session }: { readonly isSure: boolean; readonly session: CliSession },
): Promise<CommandResult> {
  for (const { stem } of prepared) refuseTaken(skillsFolder, stem);
  await confirm(prepared.map(describeSkill).join("\n"), { verb: "Add", isSure, signal: session.signal });
  for (const skill of prepared) await putInPlace(skill, skillsFolder);
  const needed = [...new Set(prepared.flatMap((skill) => skill.needed))];
  return {
    json: { added: prepared.map(toFacts), needed },
    text: lines([
      ...prepared.map(({ stem, module }) => `Added ${module.skill} in ${shownPath(join(skillsFolder, stem))}`),
      needed.length === 0 ? "" : `Install what it needs: npm install ${needed.join(" ")}`,
    ]),
    remarks: isSure ? prepared.map(describeSkill).join("\n") : "",
  };
}

function toFacts({ stem, module, source, version, digest, needed }: PreparedSkill): object {
  return {
    name: stem,
    skill: module.skill,
    source: source.text,
    version,
    digest,
    uses: [...module.builtins, ...module.network],
    needed,
  };
}

function refuseTaken(skillsFolder: string, stem: string): void {
  const existing = ["", ".ts", ".js", ".mjs", ".cjs"]
    .map((ending) => join(skillsFolder, stem + ending))
    .find(existsSync);
  if (existing !== undefined)
    throw new UsageError(`${shownPath(existing)} already exists; choose another name with --name`);
}

async function confirm(
  request: string,
  { verb, isSure, signal }: { readonly verb: string; readonly isSure: boolean; readonly signal: AbortSignal },
): Promise<void> {
  if (isSure) return;
  const it = `${verb} it? A skill runs with your rights: it can read your files and reach the network.`;
  await requireYes(`${request}\n${it}`, signal, {
    refusal: (why) => `Cannot ${verb.toLowerCase()} this: ${why}.\n${request}`,
    facts: { fix: "Review it, then run the command again with --yes" },
  });
}

/**
 * Puts a skill into its folder at once, in place of an earlier version, and records where it is from. The record is first: a
 * folder without one could not be added again.
 */
async function putInPlace(skill: PreparedSkill, skillsFolder: string): Promise<void> {
  const { stem, files, source, part, version, digest } = skill;
  const folder = join(skillsFolder, stem);
  const [draft, old] = [join(skillsFolder, `.${stem}-new`), join(skillsFolder, `.${stem}-old`)];
  const { changeByHand } = await loadConfigModule();
  const put = async (): Promise<void> => {
    await rm(draft, { recursive: true, force: true });
    await copySkill(skill.folder, draft, stem);
    await writeAdded(skillsFolder, new Map([[stem, { source, part, version, digest }]]));
    if (existsSync(folder)) {
      await rm(old, { recursive: true, force: true }); // of a command that was ended in between
      await rename(folder, old);
    }
    await rename(draft, folder);
    await rm(old, { recursive: true, force: true });
  };
  try {
    await makeFolder(skillsFolder, 0o777);
    const changed = [...new Set([...files.keys(), ...(await digestFiles(folder)).keys()])];
    const written = [...changed.map((name) => join(folder, name)), getRecordFile(skillsFolder)];
    await changeByHand({ cwd: process.cwd(), env: process.env }, { files: written }, put);
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true }).catch(() => {}); // the first failure is reported
    throw toWriteError(shownPath(folder), thrown);
  }
}

export function addSkillsUpdate(skills: CliCommand): void {
  skills
    .command("update")
    .description("get the added skills again from where they came from, after showing what has changed")
    .argument("[names...]", "names of added skills (default: all)")
    .option("--force", "replace a skill that was changed here")
    .option("-y, --yes", "skip the confirmation")
    .run(async (session, names: readonly string[], { force, yes }: { readonly force?: true; readonly yes?: true }) => {
      const { ownSkills } = await session.folders();
      const added = await selectAdded(ownSkills, names);
      const results: { readonly name: string; readonly version: string; readonly changes: readonly string[] }[] = [];
      for (const [stem, skill] of added) {
        if (force !== true) await refuseChanged(ownSkills, stem, skill);
        const selection = { parts: skill.part === "" ? [] : [skill.part], name: stem };
        const use = async ([next]: readonly PreparedSkill[]): Promise<void> => {
          if (next === undefined) return;
          const changes = compareFiles(await digestFiles(join(ownSkills, stem)), next.files);
          results.push({ name: stem, version: next.version, changes });
          if (changes.length === 0) return;
          const request = `${describeSkill(next)}\n  changes   ${changes.join(", ")}`;
          await confirm(request, { verb: "Update", isSure: yes === true, signal: session.signal });
          await putInPlace(next, ownSkills);
        };
        // A project that was cloned may name anything as the source.
        const source = skill.source.kind === "folder" ? skill.source : parseSource(skill.source.text);
        await withFetched(source, selection, { signal: session.signal, use });
      }
      return {
        json: { updated: results },
        text: lines(
          results.map(({ name, version, changes }) =>
            changes.length === 0
              ? `${name} is unchanged`
              : `Updated ${name}${version === "" ? "" : ` to ${version}`}: ${changes.join(", ")}`,
          ),
        ),
      };
    });
}

export function addSkillsRemove(skills: CliCommand): void {
  skills
    .command("remove")
    .description("delete added skills")
    .argument("<names...>", "names of added skills")
    .option("--force", "delete a skill that was changed here")
    .run(async (session, names: readonly string[], { force }: { readonly force?: true }) => {
      const { ownSkills } = await session.folders();
      const added = await selectAdded(ownSkills, names);
      for (const [stem, skill] of added) if (force !== true) await refuseChanged(ownSkills, stem, skill);
      const { changeByHand } = await loadConfigModule();
      for (const [stem] of added) {
        const folder = join(ownSkills, stem);
        const files = [...(await digestFiles(folder)).keys()].map((name) => join(folder, name));
        await changeByHand({ cwd: process.cwd(), env: process.env }, { files }, () =>
          rm(folder, { recursive: true, force: true }),
        );
      }
      await changeAdded(ownSkills, new Map(added.map(([stem]) => [stem, undefined])));
      return {
        json: { removed: added.map(([stem]) => stem) },
        text: lines(added.map(([stem]) => `Removed ${shownPath(join(ownSkills, stem))}`)),
      };
    });
}

type AddedEntry = readonly [stem: string, skill: AddedSkill];

async function selectAdded(skillsFolder: string, names: readonly string[]): Promise<readonly AddedEntry[]> {
  const added = await readAdded(skillsFolder);
  if (added.size === 0)
    throw new UsageError(
      `No skill was added: ${shownPath(getRecordFile(skillsFolder))} lists none. Add one with: skillgate skills add`,
    );
  const unknown = names.find((name) => !added.has(name));
  if (unknown !== undefined) throw createUnknownNameError("SKILL_UNKNOWN", unknown, added.keys(), { skill: unknown });
  return [...added].filter(([stem]) => names.length === 0 || names.includes(stem));
}

/** Throws if the files of a skill are not those that were added: work would be lost. */
async function refuseChanged(skillsFolder: string, stem: string, { digest }: AddedSkill): Promise<void> {
  const folder = join(skillsFolder, stem);
  const files = await digestFiles(folder);
  if (files.size === 0 || digestSkill(files) === digest) return;
  throw new UsageError(
    `${shownPath(folder)} was changed since it was added; --force discards these changes, or keep them under another name in ${shownPath(dirname(folder))}`,
  );
}
