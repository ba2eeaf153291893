import { dirname } from "node:path";

import { type DefinedSkill, parseHealth } from "../../authoring/define-skill.ts";
import { getMessage, sentence } from "../../errors.ts";
import { OWNER } from "../../model/caller.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { McpResource, McpSkill, ResourcesAndPrompts } from "../../model/mcp-features.ts";
import type { Problem } from "../../model/provider.ts";
import type { CallContext, Health, MethodDefinition } from "../../model/skill.ts";
import { EMPTY_STORE } from "../../shared/empty-store.ts";
import { refuseAccount } from "../../shared/http/account-response.ts";
import { isAgentSkill } from "./agent-skill.ts";
import type { DeferredImport } from "./deferred-import.ts";
import type { Prepared } from "./load/cache.ts";
import type { SkillModule } from "./load/discover.ts";
import type { Guidance } from "./load/guidance.ts";
import { thrownError } from "./load/problems.ts";
import type { SkillProcessPool } from "./process-pool.ts";
import { type CallTarget, type Loaded, type LoadRequest, startFailed } from "./process/index.ts";
import type { SavedHost } from "./saved/saved-skill.ts";
import { type ServedFile, type SkillInstructions, SkillManifest } from "./skill-manifest.ts";
import type { ReadClass, ReadModule } from "./type-reader/index.ts";

/** A module that was read and imported. */
export interface LoadedModule {
  readonly module: SkillModule;
  readonly prepared: Prepared;
  readonly loaded: Loaded;
  readonly guidance: Guidance | undefined;
  /** Imports the module at its first call; absent if it is imported already. */
  readonly deferred?: DeferredImport;
}

/** The folder-wide dependencies of a module's skills. */
export interface LoadEnvironment {
  readonly root: string;
  readonly processes: SkillProcessPool;
  /** Without it, saved skills are not loaded. */
  readonly saved?: SavedHost | undefined;
}

/** A problem of one module. */
export type ModuleError = Omit<Problem, "source">;

export interface ModuleSkills {
  readonly skills: readonly DefinedSkill[];
  /** Reasons why a value is not a skill, or is only partly read. */
  readonly errors: readonly ModuleError[];
  /** Skills that did not start. */
  readonly unstarted: readonly string[];
}

/** Creates the load request of a module for the skill process. */
export function createLoadRequest(
  { source }: SkillModule,
  { definitions, bundle, format }: Prepared,
  isReload: boolean,
): LoadRequest {
  return {
    kind: "load",
    module: source,
    skills: getSkillNames(definitions),
    bundle,
    format,
    classes: definitions.classes.map(({ path }) => path),
    values: definitions.values,
    isReload,
  };
}

/** The names of the skills that a module defines as far as its source tells. */
function getSkillNames({ classes, name }: ReadModule): readonly string[] {
  return classes.length > 0 ? classes.map((each) => each.name) : [name];
}

/** Combines the source of a module with its imported content. */
export function createSkills(parts: LoadedModule, around: LoadEnvironment): ModuleSkills {
  const { classes } = parts.prepared.definitions;
  const started = classes.filter((_, index) => parts.loaded.classes[index] === undefined);
  const usable = started.filter(({ methods }) => methods.length > 0);
  const ofClasses = usable.map((each) => createClassSkill(each, parts, around));
  const defined = parts.loaded.skills.map((each) => definedSkill(each, parts, around));
  const ofFile = classes.length + defined.length === 0 ? createFileSkills(parts, around) : [];
  const skills = [...ofClasses, ...defined, ...ofFile];
  const errors = [
    ...findFailures(parts, around.root, skills.length === 0),
    ...findWarnings(parts.prepared, started, ofFile.length > 0),
    ...(ofFile.length === 0 && skills.length > 0 ? describeLeftOut(parts) : []),
  ];
  return {
    skills,
    errors: errors.map((error) => ({ error })),
    unstarted: classes.filter((each) => !started.includes(each)).map(({ name }) => name),
  };
}

/** Returns the reasons why classes and tools are not skills, or why the module has no skill. */
function findFailures({ module, prepared, loaded }: LoadedModule, root: string, hasNone: boolean): readonly string[] {
  const subject = { module, root, bundle: prepared.bundle };
  const classes = prepared.definitions.classes.flatMap(({ name, methods }, index) => {
    const failure = loaded.classes[index];
    if (failure !== undefined) return thrownError(`the constructor of "${name}" failed`, failure, subject);
    return methods.length === 0 ? sentence("SKILL_INVALID", `"${name}" has no public methods`) : [];
  });
  const tools = loaded.failures.map((failure) => thrownError("a tool in it cannot be used", failure, subject));
  const failures = [...classes, ...tools];
  return hasNone && failures.length === 0 ? [describeNothing(prepared.definitions, loaded.functions)] : failures;
}

/** Describes why a module has no skill. */
export function describeNothing({ nearMisses }: ReadModule, functions: Loaded["functions"] = []): string {
  const wrapped = functions.map(
    (path) => `"${path.join(".")}" is not written as a function, so its parameters are not known`,
  );
  const what = "it exports no skill: no class whose name ends in Skill, no function, nothing made by defineSkill";
  return sentence("SKILL_INVALID", [what, ...nearMisses, ...wrapped].join("; "));
}

function findWarnings(
  { definitions, warnings }: Prepared,
  started: readonly ReadClass[],
  usesFunctions: boolean,
): readonly string[] {
  const read = [...started.flatMap((each) => [each, ...each.methods]), ...(usesFunctions ? definitions.functions : [])];
  return [...warnings, ...read.flatMap((each) => each.warnings)];
}

/** Reports documented functions and tools that are ignored because the file defines a skill of another form. */
function describeLeftOut({ prepared, loaded }: LoadedModule): readonly string[] {
  const functions = prepared.definitions.functions.filter(({ definition }) => definition.description !== "");
  const names = [
    ...functions.map(({ definition }) => definition.name),
    ...loaded.tools.map(({ path }) => path.join(".")),
  ];
  const fix =
    "the file also has a class or defineSkill, which takes precedence; make it a method of that, or move it to another file";
  return names.map((name) => `Cannot offer "${name}" as a method: ${fix}`);
}

/** One method of a skill and its call target. */
interface MethodBinding {
  readonly definition: MethodDefinition;
  readonly target: CallTarget;
}

interface SkillParts {
  readonly name: string;
  readonly description: string;
  readonly guidance?: string | undefined;
  readonly settings?: JsonSchema | undefined;
  readonly bindings: readonly MethodBinding[];
  readonly health: CallTarget;
}

function createClassSkill(
  { name, path, description, methods }: ReadClass,
  parts: LoadedModule,
  around: LoadEnvironment,
): DefinedSkill {
  const bindings = methods.map(({ definition, layout }): MethodBinding => {
    return { definition, target: { via: "class", path, method: definition.name, layout } };
  });
  return skill(
    { name, description, settings: parts.loaded.settings, bindings, health: { via: "health", of: "class", path } },
    parts,
    around,
  );
}

function definedSkill(
  { path, methods, ...facts }: Loaded["skills"][number],
  parts: LoadedModule,
  around: LoadEnvironment,
): DefinedSkill {
  const bindings = methods.map((definition): MethodBinding => ({
    definition,
    target: { via: "skill", path, method: definition.name },
  }));
  return skill({ ...facts, bindings, health: { via: "health", of: "skill", path } }, parts, around);
}

/** Creates the skill of a file's functions and tools; an empty list if it has none. */
function createFileSkills(parts: LoadedModule, around: LoadEnvironment): readonly DefinedSkill[] {
  const { definitions } = parts.prepared;
  const tools = parts.loaded.tools.map(({ path, definition }): MethodBinding => {
    const exported = path.at(-1) ?? "default";
    const name = definition.name || (exported === "default" ? definitions.methodName : exported);
    return { definition: { ...definition, name }, target: { via: "tool", path } };
  });
  const functions = definitions.functions
    .filter(({ path }) => !parts.loaded.tools.some((tool) => tool.path.every((name, index) => path[index] === name)))
    .map(({ path, definition, layout }): MethodBinding => ({ definition, target: { via: "function", path, layout } }));
  const bindings = [...functions, ...tools];
  if (bindings.length === 0) return [];
  const { name, description } = definitions;
  return [
    skill(
      {
        name,
        description,
        settings: parts.loaded.settings,
        bindings,
        health: { via: "health", of: "module", path: [] },
      },
      parts,
      around,
    ),
  ];
}

function skill(
  { bindings, health, ...facts }: SkillParts,
  { module, guidance, deferred, loaded: { accounts } }: LoadedModule,
  around: LoadEnvironment,
): DefinedSkill {
  const { name, settings } = facts;
  const targets = new Map(bindings.map(({ definition, target }) => [definition.name, target]));
  const text = facts.guidance ?? (guidance?.text || undefined);
  const description = facts.description || (guidance?.description ?? "");
  // A script of an Agent Skill has the guidance of its folder, whose own skill offers it.
  const isOwn = module.guidanceFile === undefined || dirname(module.guidanceFile) === dirname(module.entry);
  const call = (
    target: CallTarget,
    path: string,
    input: Readonly<Record<string, unknown>>,
    context: CallContext,
  ): Promise<unknown> => {
    const invoke = (): Promise<unknown> =>
      around.processes.invoke({ module: module.source, target, path, input }, context);
    if (deferred === undefined) return invoke();
    return deferred.ensureImported().then(invoke, (error: unknown) => Promise.reject(startFailed(path, error)));
  };
  return Object.freeze({
    name,
    description,
    source: module.source,
    kind: "file",
    methods: Object.freeze([
      ...new Map(bindings.map(({ definition }) => [definition.name, withAccounts(definition, accounts)])).values(),
    ]),
    ...(text !== undefined && { guidance: text }),
    ...(text !== undefined &&
      isOwn && {
        offers: createSkillOffers({ name, description, text }, isAgentSkill(module.entry) ? module.entry : undefined),
      }),
    ...(settings !== undefined && { settings }),
    invoke: async (method: MethodDefinition, input: Readonly<Record<string, unknown>>, context: CallContext) => {
      const target = targets.get(method.name);
      if (target === undefined) throw new Error(`"${name}.${method.name}" is not a method of "${module.source}"`);
      return call(target, `${name}.${method.name}`, input, context);
    },
    health: async (): Promise<Health> => {
      if (deferred?.isImported === false) return { healthy: false, message: "Its import has not finished" };
      try {
        return parseHealth(await call(health, `${name}.healthCheck`, {}, healthContext()));
      } catch (error) {
        return { healthy: false, message: getMessage(error) };
      }
    },
  });
}

/** A definition of `defineSkill` says itself which accounts it uses. */
function withAccounts(definition: MethodDefinition, accounts: readonly string[] = []): MethodDefinition {
  return definition.accounts !== undefined || accounts.length === 0 ? definition : { ...definition, accounts };
}

const HEALTH_TIMEOUT_MS = 5_000;

function healthContext(): CallContext {
  return {
    caller: OWNER,
    runId: "",
    callId: "",
    signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS),
    log: () => undefined,
    settings: {},
    secrets: {},
    store: EMPTY_STORE,
    account: refuseAccount,
    progress: () => undefined,
  };
}

const NAME = "instructions";

/**
 * Offers the guidance of a skill as an MCP prompt, so that a person can give it to a model by name, and as a skill of the extension
 * of skills, with its files. `file` is a `SKILL.md` whose whole folder belongs to it.
 */
function createSkillOffers(skill: SkillInstructions, file: string | undefined): ResourcesAndPrompts {
  const { name: title, description, text } = skill;
  const message = { role: "user", content: { type: "text", text } };
  const manifest = new SkillManifest(skill, file);
  return {
    get resources(): readonly McpResource[] {
      return manifest.read()?.resources ?? [];
    },
    get skills(): readonly McpSkill[] {
      const skills = manifest.read();
      return skills === undefined ? [] : [skills.entry];
    },
    templates: [],
    prompts: [{ name: NAME, title: `Instructions of ${title}`, ...(description !== "" && { description }) }],
    read: (uri) => {
      const served = manifest.read()?.files.get(uri);
      return served === undefined
        ? Promise.reject(new Error(`"${title}" has no resource "${uri}"`))
        : Promise.resolve({ contents: [toContents(uri, served)] });
    },
    prompt: (name) =>
      name === NAME
        ? Promise.resolve({ ...(description !== "" && { description }), messages: [message] })
        : Promise.reject(new Error(`"${title}" has no prompt "${name}"`)),
  };
}

function toContents(uri: string, { read, mimeType }: ServedFile): object {
  const bytes = read();
  const text = bytes.toString("utf8");
  const isText = Buffer.from(text, "utf8").equals(bytes);
  return isText ? { uri, mimeType, text } : { uri, mimeType, blob: bytes.toString("base64") };
}
