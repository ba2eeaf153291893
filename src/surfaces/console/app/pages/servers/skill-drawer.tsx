import { useSignal } from "@preact/signals";

import type { ProblemDetails, SkillDetail, SkillSetting } from "../../../messages.ts";
import { request, toProblem } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { useResource } from "../../state/resource.ts";
import { showError, showToast } from "../../state/toasts.ts";

interface SkillDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One skill: its switch, settings and methods. */
export function SkillDrawer({ name, mayWrite, onClose, onChange }: SkillDrawerProps) {
  const path = `/skills/${encodeURIComponent(name)}`;
  const { data, error, reload } = useResource<SkillDetail>(path, { reloadOn: ["catalog"] });
  const skill = data.value;
  const toggle = async (enabled: boolean): Promise<void> => {
    await request(`${path}/enabled`, { method: "POST", body: { enabled } });
    const undo = { label: "Undo", run: () => void toggle(!enabled).catch(showError) };
    showToast({ tone: "ok", text: `${name} is ${enabled ? "enabled" : "disabled"}`, action: undo });
    reload();
    onChange();
  };
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      {skill === undefined && error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {skill === undefined && error.value === undefined && <Skeleton lines={6} />}
      {skill !== undefined && (
        <>
          <p>
            <Text value={skill.description} limit={1_000} />
          </p>
          {mayWrite && (
            <div class="actions">
              <button type="button" class="button" onClick={() => void toggle(!skill.enabled).catch(showError)}>
                {skill.enabled ? "Disable" : "Enable"}
              </button>
            </div>
          )}
          <Problems problems={skill.problems} />
          {skill.settings.length > 0 && <Settings skill={skill} path={path} mayWrite={mayWrite} onSave={reload} />}
          <Methods paths={skill.methodPaths} />
        </>
      )}
    </Dialog>
  );
}

function Problems({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <ul class="notice notice-error">
      {problems.map((problem) => (
        <li key={problem}>
          <Text value={problem} limit={600} />
        </li>
      ))}
    </ul>
  );
}

function Methods({ paths }: { readonly paths: readonly string[] }) {
  return (
    <section>
      <h3>{paths.length === 1 ? "1 method" : `${paths.length} methods`}</h3>
      <ul class="list">
        {paths.map((path) => (
          <li key={path}>
            <a href={formatLink(["methods", path])}>
              <Text value={path} limit={200} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface SettingsProps {
  readonly skill: SkillDetail;
  readonly path: string;
  readonly mayWrite: boolean;
  readonly onSave: () => void;
}

/** The settings by the schema of the skill. Secrets have no value here: the environment has it. */
function Settings({ skill, path, mayWrite, onSave }: SettingsProps) {
  const texts = useSignal<Readonly<Record<string, string>>>({});
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const save = async (): Promise<void> => {
    const entries = Object.entries(texts.value).map(([key, text]) => [key, parseValue(text, findSetting(skill, key))]);
    await request(`${path}/settings`, { method: "PATCH", body: { values: Object.fromEntries(entries) } });
    texts.value = {};
    showToast({ tone: "ok", text: `The settings of ${skill.name} are saved` });
    setTimeout(onSave, RELOAD_MS);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    error.value = undefined;
    save().catch((thrown: unknown) => (error.value = toProblem(thrown)));
  };
  return (
    <form class="stack" onSubmit={submit}>
      <h3>Settings</h3>
      {skill.settings.map((setting) => (
        <SettingField
          key={setting.key}
          setting={setting}
          isReadOnly={!mayWrite}
          text={texts.value[setting.key]}
          onInput={(text) => (texts.value = { ...texts.value, [setting.key]: text })}
        />
      ))}
      {error.value !== undefined && <ErrorNotice error={error.value} />}
      {mayWrite && (
        <div class="actions">
          <button type="submit" class="button button-primary" disabled={Object.keys(texts.value).length === 0}>
            Save settings
          </button>
        </div>
      )}
    </form>
  );
}

/** Milliseconds after which the server has read the changed file. */
const RELOAD_MS = 600;

interface SettingFieldProps {
  readonly setting: SkillSetting;
  readonly isReadOnly: boolean;
  /** The text that was typed; `undefined` while the setting is as it was. */
  readonly text: string | undefined;
  readonly onInput: (text: string) => void;
}

function SettingField({ setting, isReadOnly, text, onInput }: SettingFieldProps) {
  const { key, schema, isRequired, isSecret, variable, isSet } = setting;
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  const choices = Array.isArray(schema["enum"]) ? schema["enum"].filter((each) => typeof each === "string") : [];
  const value = text ?? formatValue(setting);
  if (isSecret)
    return (
      <div class="field">
        <span>
          <Text value={key} limit={100} />
        </span>
        <code>{isSet ? "********" : "not set"}</code>
        <small class="field-note">
          <Text value={`${description} Set ${variable ?? ""} in the environment or in .env.`} limit={400} />
        </small>
      </div>
    );
  return (
    <label class="field">
      <span>
        <Text value={isRequired ? `${key} (required)` : key} limit={100} />
      </span>
      {choices.length > 0 ? (
        <select value={value} disabled={isReadOnly} onChange={({ currentTarget }) => onInput(currentTarget.value)}>
          {["", ...choices].map((choice) => (
            <option key={choice} value={choice}>
              {choice === "" ? "default" : choice}
            </option>
          ))}
        </select>
      ) : (
        <input
          value={value}
          readOnly={isReadOnly}
          spellcheck={false}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
      )}
      {description !== "" && (
        <small class="field-note">
          <Text value={description} limit={400} />
        </small>
      )}
    </label>
  );
}

function findSetting({ settings }: SkillDetail, key: string): SkillSetting | undefined {
  return settings.find((setting) => setting.key === key);
}

function formatValue({ value, isSet }: SkillSetting): string {
  if (!isSet) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Reads the text of a field; an empty one removes the setting. */
function parseValue(text: string, setting: SkillSetting | undefined): unknown {
  if (text === "") return null;
  if (setting?.schema["type"] === "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the server says what is wrong with it
  }
}
