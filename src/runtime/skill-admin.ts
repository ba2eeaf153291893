import { basename, resolve } from "node:path";

import { getMessage } from "../errors.ts";
import { type SkillHealth, describeHeld, type HeldSkill } from "../model/provider.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import type { RuntimeParts } from "./api/parts.ts";
import { findHeldSettings, readAgain } from "./settings/live-trust.ts";
import type { Providers } from "./open-providers.ts";
import { describeMissingSecrets, type ResolvedSettings } from "./skill-settings.ts";
import { watchFile } from "../shared/watch-file.ts";

/** Administration of a runtime's skills by its owner. */
export interface SkillAdmin {
  /** Enables a disabled skill. Returns whether there is one of that name. */
  enable(name: string): boolean;
  /** Disables a skill: it is not shown, and calls of it are refused. Returns whether there is one of that name. */
  disable(name: string): boolean;
  /** The skills that are there but switched off, by name. */
  disabled(): readonly ProvidedSkill[];
  /** The skills that are not used, because files of theirs are held. */
  listHeldSkills(): readonly HeldSkill[];
  /** Returns the health of each skill, including those that did not start and servers that are not connected. */
  health(): Promise<readonly SkillHealth[]>;
  /** Returns the settings that a skill receives; `undefined` if there is no such skill. */
  settingsOf(skill: string): ResolvedSettings | undefined;
  /**
   * Reads settings.yaml and `.env` again: settings of skills, accounts, APIs and the policy count from the next call on. While settings.yaml is
   * broken, the earlier settings stay in force.
   */
  reloadSettings(): Promise<void>;
}

export function createSkillAdmin(parts: RuntimeParts): SkillAdmin {
  const { registry, sources, providers, skillSettings, secrets } = parts;
  const withSecrets = (health: SkillHealth, skill: ProvidedSkill | undefined): SkillHealth => {
    const missing = skill === undefined ? [] : skillSettings.of(skill).missingSecrets;
    return missing.length === 0 ? health : { ...health, healthy: false, message: describeMissingSecrets(missing) };
  };
  return {
    reloadSettings: () => reloadSettings(parts),
    enable: (name) => sources.enable(name, true),
    disable: (name) => sources.enable(name, false),
    disabled: () => sources.disabled,
    listHeldSkills: () => sources.held,
    async health() {
      const servers = providers.servers.filter(({ status }) => status !== "disabled");
      const all = [...(await sources.health()), ...servers.map(getServerHealth)];
      return all
        .filter(({ skill }) => !sources.isDisabled(skill))
        .map((health) => withSecrets(health, registry.catalog.skill(health.skill)?.provided))
        .map((health) => ({ ...health, message: secrets.maskText(health.message) }));
    },
    settingsOf(name) {
      const skill = registry.catalog.skill(name)?.provided ?? sources.disabled.find((each) => each.name === name);
      return skill && skillSettings.of(skill);
    },
  };
}

/** Applies changes of the settings of skills from the next call on, if the runtime watches its files. */
export function watchSettings(parts: RuntimeParts): () => void {
  const { watch, settingsFile } = parts.settings;
  if (!watch || settingsFile === undefined) return () => {};
  const warn = (error: unknown): void => warnOfSettings(parts, getMessage(error));
  const refresh = (): void => void reloadSettings(parts).catch(warn);
  const files = [settingsFile, resolve(parts.options.cwd ?? ".", ".env")];
  const stops = files.map((file) => watchFile(file, refresh, warn));
  return () => {
    for (const stop of stops) stop();
  };
}

/** Reads the settings again, and uses them if they are not held. */
export function reloadSettings(parts: RuntimeParts): Promise<void> {
  return parts.inTurn(() => takeUpSettings(parts));
}

async function takeUpSettings(parts: RuntimeParts): Promise<void> {
  const { options, settings, sources, providers, skillSettings, secrets, policy, events, accounts, onReload } = parts;
  const before = skillSettings.disabled;
  const fresh = await readAgain(options);
  secrets.add(fresh.secretValues);
  const why = findHeldSettings(fresh);
  if (why !== undefined) {
    onReload(fresh);
    return warnOfSettings(
      parts,
      `${describeHeld("settings.yaml", why)}. Until then, the settings before stay in force`,
    );
  }
  const broken = fresh.problems.find(({ source }) => source === basename(settings.settingsFile ?? ""));
  if (broken !== undefined) return warnOfSettings(parts, broken.error);
  skillSettings.replace(fresh.sections["skills"], fresh.variables);
  policy.configure(fresh.policy);
  events.emit("log", { level: "info", text: "The changed settings are in force" });
  const now = skillSettings.disabled;
  for (const name of before) if (!now.includes(name)) sources.enable(name, true);
  for (const name of now) if (!before.includes(name)) sources.enable(name, false);
  accounts.replace(fresh.accounts);
  await providers.replaceApis(fresh.apis);
}

/** The earlier settings stay in force while the file is broken. */
function warnOfSettings({ events }: Pick<RuntimeParts, "events">, why: string): void {
  events.emit("log", { level: "warn", text: `Cannot take up the settings: ${why}` });
}

function getServerHealth({ skill, name, status, error }: Providers["servers"][number]): SkillHealth {
  if (status === "connected") return { skill, source: name, healthy: true, message: "ok" };
  // A server that waits for its first call, or was stopped because it had none, has no error.
  const isAsleep = status === "disconnected" && error === undefined;
  return { skill, source: name, healthy: isAsleep, message: isAsleep ? "its next call starts it" : (error ?? status) };
}
