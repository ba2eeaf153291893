import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { onTestFinished } from "vitest";

import type { CallContext, MethodDefinition, ProvidedSkill } from "../../../src/model/skill.ts";
import { createStore } from "../../../src/store/index.ts";
import { loadSkills, type SkillsOptions, type SkillsProvider } from "../../../src/providers/skills/index.ts";
import { refuseAccount } from "../../../src/shared/http/account-response.ts";

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Files by name; a value that begins with `->` is a symbolic link. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name);
    await mkdir(dirname(file), { recursive: true });
    await (text.startsWith("->") ? symlink(text.slice(2), file) : writeFile(file, text));
  }
}

/** A skills folder with these files, loaded; closed and gone after the test. */
export async function loadFiles(
  files: Readonly<Record<string, string>>,
  options: SkillsOptions = {},
): Promise<SkillsProvider> {
  const folder = await temporaryFolder();
  await writeFiles(join(folder, "skills"), files);
  return load(join(folder, "skills"), { cacheDir: join(folder, "cache"), ...options });
}

export async function load(dir: string, options: SkillsOptions): Promise<SkillsProvider> {
  const provider = await loadSkills(dir, options);
  onTestFinished(() => provider.close());
  return provider;
}

export function findSkill(provider: { readonly skills: readonly ProvidedSkill[] }, name: string): ProvidedSkill {
  const skill = provider.skills.find((each) => each.name === name);
  if (skill === undefined)
    throw new Error(`no skill ${name} among ${provider.skills.map((each) => each.name).join(", ")}`);
  return skill;
}

export function findMethod(provider: { readonly skills: readonly ProvidedSkill[] }, path: string): MethodDefinition {
  const [skill = "", name = ""] = path.split(".");
  const method = findSkill(provider, skill).methods.find((each) => each.name === name);
  if (method === undefined) throw new Error(`no method ${path}`);
  return method;
}

/** Calls a method by its path, as the router would. */
export async function call(
  provider: { readonly skills: readonly ProvidedSkill[] },
  path: string,
  input: Readonly<Record<string, unknown>> = {},
  context: Partial<CallContext> = {},
): Promise<unknown> {
  const [skill = ""] = path.split(".");
  return findSkill(provider, skill).invoke(findMethod(provider, path), input, { ...createTestContext(), ...context });
}

export function createTestContext(): CallContext {
  return {
    caller: { id: "ada", permissions: ["call:*"] },
    runId: "run",
    callId: "run/1",
    signal: new AbortController().signal,
    log: () => undefined,
    settings: {},
    secrets: {},
    store: createStore().space("test"),
    account: refuseAccount,
    progress: () => undefined,
  };
}
