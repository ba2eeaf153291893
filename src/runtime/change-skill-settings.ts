import type { EnvChange } from "../config/index.ts";
import { SkillgateError } from "../errors.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import { findMistakes, formatSettingKey, getSecretNames, getSecretVariable } from "./skill-settings.ts";

/** A new value of a setting; `undefined` removes it. */
export interface SettingChange {
  readonly key: string;
  readonly value: unknown;
}

/** The values that a change of settings writes, by file. */
export interface SettingsChangePlan {
  /** Values of settings.yaml. */
  readonly values: readonly { readonly path: readonly string[]; readonly value: unknown }[];
  /** Variables of `.env`. */
  readonly variables: readonly EnvChange[];
}

interface ChangeContext {
  /** The settings that the skill receives now. */
  readonly current?: Readonly<Record<string, unknown>> | undefined;
  /** The environment of the process, which counts before `.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Plans a change of the settings of a skill: secrets become variables of `.env`, everything else values of settings.yaml. Throws
 * `OPTION_INVALID`, without the value of a secret, if a changed setting is invalid; other settings may already be invalid or
 * missing. The values of placeholders are not known here.
 */
export function planSettingsChange(
  skill: Pick<ProvidedSkill, "name" | "settings">,
  changes: readonly SettingChange[],
  { current = {}, env }: ChangeContext,
): SettingsChangePlan {
  requireValidChanges(changes, skill, current);
  const secretNames = getSecretNames(skill.settings ?? {});
  const isSecret = ({ key }: SettingChange): boolean => secretNames.includes(key);
  const variables = changes
    .filter((change) => isSecret(change) && !isPlaceholder(change.value))
    .map(({ key, value }) => toVariable(skill.name, key, { value, env }));
  return {
    // A secret in `.env` counts only without an entry in settings.yaml.
    values: changes.map((change) => ({
      path: ["skills", skill.name, change.key],
      value: isSecret(change) && !isPlaceholder(change.value) ? undefined : change.value,
    })),
    variables,
  };
}

function toVariable(skill: string, key: string, { value, env }: { value: unknown } & ChangeContext): EnvChange {
  const name = getSecretVariable(skill, key);
  if (env[name] !== undefined)
    throw invalidChange(
      `Cannot change "${key}": ${name} is set in the environment, which counts before .env; change it there`,
    );
  if (value === undefined) return { name, value };
  if (typeof value !== "string") throw invalidChange(`Cannot change "${key}": a secret must be a text`);
  return { name, value };
}

function requireValidChanges(
  changes: readonly SettingChange[],
  skill: Pick<ProvidedSkill, "name" | "settings">,
  current: Readonly<Record<string, unknown>>,
): void {
  const secrets = new Set(getSecretNames(skill.settings ?? {}).map(formatSettingKey));
  const changed = changes.filter(({ value }) => value !== undefined && !hasPlaceholder(value));
  const values = { ...current, ...Object.fromEntries(changed.map(({ key, value }) => [key, value])) };
  const names = changed.map(({ key }) => formatSettingKey(key));
  const mistakes = findMistakes(values, skill).filter(({ setting }) =>
    names.some((name) => setting === name || setting.startsWith(`${name}.`) || setting.startsWith(`${name}[`)),
  );
  if (mistakes.length === 0) return;
  const reasons = mistakes.map(({ setting, says }) =>
    secrets.has(setting) ? `"${setting}" does not fit its schema` : says,
  );
  throw invalidChange(`Cannot change the settings of ${skill.name}: ${reasons.join("; ")}`);
}

/** True for a value that is one placeholder, such as `${VARIABLE}`. */
function isPlaceholder(value: unknown): boolean {
  return typeof value === "string" && /^\$\{[^}]+\}$/.test(value);
}

function hasPlaceholder(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}

/** The message contains the fix. */
function invalidChange(message: string): SkillgateError {
  return new SkillgateError("OPTION_INVALID", message, { fix: "" });
}
