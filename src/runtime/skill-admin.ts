import { basename } from "node:path";

import { getMessage } from "../errors.ts";
import type { SkillHealth } from "../model/provider.ts";
import type { LogLevel, ProvidedSkill } from "../model/skill.ts";
import type { RuntimeOptions } from "./options.ts";
import { readOptions } from "./settings/index.ts";
import type { RuntimeSettings } from "./settings/runtime-settings.ts";
import type { Providers } from "./open-providers.ts";
import type { LivePolicy } from "../policy/index.ts";
import type { Registry } from "../registry/index.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import type { ResolvedSettings, SkillSettings } from "./skill-settings.ts";
import type { SkillSources } from "./skill-sources.ts";
import { watchFile } from "../shared/watch-file.ts";

/** Administration of a runtime's skills by its owner. */
export interface SkillAdmin {
  /** Enables a disabled skill. Returns whether there is one of that name. */
  enable(name: string): boolean;
  /** Disables a skill: it is not shown, and calls of it are refused. Returns whether there is one of that name. */
  disable(name: string): boolean;
  /** The skills that are there but switched off, by name. */
  disabled(): readonly ProvidedSkill[];
  /** Returns the health of each skill, including those that did not start and servers that are not connected. */
  health(): Promise<readonly SkillHealth[]>;
  /** Returns the settings that a skill receives; `undefined` if there is no such skill. */
  settingsOf(skill: string): ResolvedSettings | undefined;
}

interface SkillAdminParts {
  readonly registry: Registry;
  readonly sources: SkillSources;
  readonly providers: Providers;
  readonly skillSettings: SkillSettings;
  readonly secrets: KnownSecrets;
}

export function createSkillAdmin({
  registry,
  sources,
  providers,
  skillSettings,
  secrets,
}: SkillAdminParts): SkillAdmin {
  return {
    enable: (name) => sources.enable(name, true),
    disable: (name) => sources.enable(name, false),
    disabled: () => sources.disabled,
    async health() {
      const all = [...(await sources.health()), ...providers.servers.map(getServerHealth)];
      return all
        .filter(({ skill }) => !sources.isDisabled(skill))
        .map((health) => ({ ...health, message: secrets.maskText(health.message) }));
    },
    settingsOf(name) {
      const skill = registry.catalog.skill(name)?.provided ?? sources.disabled.find((each) => each.name === name);
      return skill && skillSettings.of(skill);
    },
  };
}

/** Applies changes of the settings of skills from the next call on, if the runtime watches its files. */
export function watchSettings({
  options,
  settings: { watch, settingsFile, isTrusted },
  sources,
  skillSettings,
  secrets,
  policy,
  events,
}: SkillAdminParts & WatchOptions): () => void {
  if (!watch || settingsFile === undefined) return () => {};
  // The earlier settings stay in force while the file is broken.
  const warn = (error: unknown): unknown =>
    events.emit("log", { level: "warn", text: `Cannot take up the settings: ${getMessage(error)}` });
  const refresh = async (): Promise<void> => {
    const before = skillSettings.disabled;
    // A project that was trusted at the start stays trusted until the end, as its skills do.
    const { person: _asked, ...unasked } = options;
    const trust = isTrusted ? "given" : "recorded";
    const { sections, variables, problems, secretValues, policy: rules } = await readOptions({ ...unasked, trust });
    secrets.add(secretValues);
    const broken = problems.find(({ source }) => source === basename(settingsFile));
    if (broken !== undefined) return void warn(broken.error);
    skillSettings.replace(sections["skills"], variables);
    policy.configure(rules);
    events.emit("log", { level: "info", text: "The changed settings are in force" });
    const now = skillSettings.disabled;
    for (const name of before) if (!now.includes(name)) sources.enable(name, true);
    for (const name of now) if (!before.includes(name)) sources.enable(name, false);
  };
  return watchFile(settingsFile, () => void refresh().catch(warn), warn);
}

interface WatchOptions {
  readonly options: RuntimeOptions;
  readonly settings: RuntimeSettings;
  readonly policy: Pick<LivePolicy, "configure">;
  readonly events: { emit(event: "log", line: { readonly level: LogLevel; readonly text: string }): unknown };
}

function getServerHealth({ skill, name, status, error = status }: Providers["servers"][number]): SkillHealth {
  const healthy = status === "connected";
  return { skill, source: name, healthy, message: healthy ? "ok" : error };
}
