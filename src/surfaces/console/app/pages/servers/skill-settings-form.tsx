import { useState } from "preact/hooks";

import type { SkillDetail, SkillSetting } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm } from "../../components/dialog.tsx";
import { Button } from "../../components/elements.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { showToast } from "../../state/toasts.ts";

interface SettingsProps {
  readonly skill: SkillDetail;
  readonly path: string;
  readonly mayWrite: boolean;
  readonly onSave: () => void;
}

/** The settings by the schema of the skill. Secrets can be written, and are never shown. */
export function SkillSettingsForm({ skill: { name, settings }, path, mayWrite, onSave }: SettingsProps) {
  const [version, setVersion] = useState(0);
  const write = async (values: Readonly<Record<string, unknown>>): Promise<void> => {
    await request(`${path}/settings`, { method: "PATCH", body: { values } });
    showToast({ tone: "ok", text: `The settings of ${name} are saved` });
    setVersion(version + 1);
    onSave();
  };
  const save = (values: FormValues): Promise<void> => {
    const changed = settings.filter((setting) => (values[setting.key] ?? "") !== formatValue(setting));
    return write(Object.fromEntries(changed.map((setting) => [setting.key, parseValue(values[setting.key], setting)])));
  };
  const remove = async ({ key, variable }: SkillSetting): Promise<void> => {
    const text = `${variable ?? key} is removed from .env. The skill no longer receives it.`;
    if (await askToConfirm({ title: `Remove ${key}?`, text, confirm: "Remove" })) await write({ [key]: null });
  };
  const fields = settings.map((setting) => (
    <div key={setting.key} class="stack-tight">
      <SettingField setting={setting} isReadOnly={!mayWrite} />
      {mayWrite && setting.isSecret && setting.isSet && (
        <div class="row">
          <Button label={`Remove ${setting.key}`} onClick={() => remove(setting)} />
        </div>
      )}
    </div>
  ));
  return (
    <section class="stack">
      <h3>Settings</h3>
      {mayWrite ? (
        <Form submit="Save settings" needsChange version={version} onSubmit={save}>
          {fields}
        </Form>
      ) : (
        fields
      )}
    </section>
  );
}

interface SettingFieldProps {
  readonly setting: SkillSetting;
  readonly isReadOnly: boolean;
}

/** The field of a secret is for a new value; the server never sends the old one. */
function SettingField({ setting, isReadOnly }: SettingFieldProps) {
  const { key, schema, isRequired, isSecret, variable, isSet } = setting;
  const description = typeof schema["description"] === "string" ? schema["description"] : "";
  const field = { name: key, label: isRequired ? `${key} (required)` : key, readOnly: isReadOnly };
  if (isSecret) {
    const sentence = description === "" ? "" : `${description.replace(/\.$/, "")}. `;
    const note = `${sentence}Secret: written into .env as ${variable ?? key}, and never shown.`;
    const placeholder = isSet ? "********" : "not set";
    return <Field {...field} type="password" autocomplete="new-password" placeholder={placeholder} note={note} />;
  }
  const words = Array.isArray(schema["enum"]) ? schema["enum"].filter((each) => typeof each === "string") : [];
  const choices = words.length === 0 ? undefined : ["", ...words].map((word) => [word, word || "default"] as const);
  return <Field {...field} value={formatValue(setting)} note={description} choices={choices} />;
}

function formatValue({ value, isSet, isSecret }: SkillSetting): string {
  if (!isSet || isSecret) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Reads the text of a field; an empty one removes the setting. A secret is removed by its button only. */
function parseValue(text = "", { isSecret, schema }: SkillSetting): unknown {
  if (text === "") return null;
  if (isSecret || schema["type"] === "string") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // the server says what is wrong with it
  }
}
