import { useSignal } from "@preact/signals";

import type { ProblemDetails, SkillDetail, SkillSetting } from "../../../messages.ts";
import { request, toProblem } from "../../api.ts";
import { askToConfirm } from "../../components/confirmation.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Text } from "../../components/text.tsx";
import { showError, showToast } from "../../state/toasts.ts";

interface SettingsProps {
  readonly skill: SkillDetail;
  readonly path: string;
  readonly mayWrite: boolean;
  readonly onSave: () => void;
}

/** The settings by the schema of the skill. Secrets can be written, and are never shown. */
export function SkillSettingsForm({ skill, path, mayWrite, onSave }: SettingsProps) {
  const texts = useSignal<Readonly<Record<string, string>>>({});
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const write = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    await request(`${path}/settings`, { method: "PATCH", body: { values } });
    showToast({ tone: "ok", text: `The settings of ${skill.name} are saved` });
    onSave();
  };
  const save = async (): Promise<void> => {
    const entries = Object.entries(texts.value).map(([key, text]) => [key, parseValue(text, findSetting(skill, key))]);
    await write(Object.fromEntries(entries));
    texts.value = {};
  };
  const edit = ({ key, isSecret }: SkillSetting, text: string): void => {
    const { [key]: _old, ...others } = texts.value;
    // A secret is removed by its button only: its field is always empty at first.
    texts.value = isSecret && text === "" ? others : { ...others, [key]: text };
  };
  const remove = async ({ key, variable }: SkillSetting): Promise<void> => {
    const text = `${variable ?? key} is removed from .env. The skill no longer receives it.`;
    if (await askToConfirm({ title: `Remove ${key}?`, text, confirm: "Remove" })) await write({ [key]: null });
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
          onInput={(text) => edit(setting, text)}
          onRemove={() => void remove(setting).catch(showError)}
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

interface SettingFieldProps {
  readonly setting: SkillSetting;
  readonly isReadOnly: boolean;
  /** The text that was typed; `undefined` while the setting is as it was. */
  readonly text: string | undefined;
  readonly onInput: (text: string) => void;
  readonly onRemove: () => void;
}

function SettingField(props: SettingFieldProps) {
  const { setting, isReadOnly, text, onInput } = props;
  const { key, schema, isRequired, isSecret } = setting;
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  const choices = Array.isArray(schema["enum"]) ? schema["enum"].filter((each) => typeof each === "string") : [];
  const value = text ?? formatValue(setting);
  if (isSecret) return <SecretField {...props} />;
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

/** A field for a new value; the server never sends the old one. */
function SecretField({ setting, isReadOnly, text = "", onInput, onRemove }: SettingFieldProps) {
  const { key, schema, isRequired, variable, isSet } = setting;
  const description = typeof schema["description"] === "string" ? `${schema["description"].replace(/\.$/, "")}. ` : "";
  return (
    <div class="field">
      <label class="field">
        <span>
          <Text value={isRequired ? `${key} (required)` : key} limit={100} />
        </span>
        <input
          type="password"
          autocomplete="new-password"
          value={text}
          placeholder={isSet ? "********" : "not set"}
          readOnly={isReadOnly}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
        />
        <small class="field-note">
          <Text value={`${description}Secret: written into .env as ${variable ?? key}, and never shown.`} limit={400} />
        </small>
      </label>
      {isSet && !isReadOnly && (
        <div class="actions">
          <button type="button" class="button" onClick={onRemove}>
            Remove <Text value={key} limit={100} />
          </button>
        </div>
      )}
    </div>
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
  if (setting?.isSecret === true || setting?.schema["type"] === "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the server says what is wrong with it
  }
}
