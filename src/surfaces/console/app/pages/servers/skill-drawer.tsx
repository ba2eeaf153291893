import { useState } from "preact/hooks";

import type { SkillDetail, SkillSetting } from "../../../messages.ts";
import { request } from "../../api.ts";
import { askToConfirm, Dialog } from "../../components/dialog.tsx";
import { Button, TextList } from "../../components/elements.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { reportChange } from "../../state/events.ts";
import { showToast } from "../../state/toasts.ts";

interface SkillDrawerProps {
  readonly name: string;
  readonly mayWrite: boolean;
  readonly onClose: () => void;
}

/** One skill: its switch, settings and methods. */
export function SkillDrawer({ name, mayWrite, onClose }: SkillDrawerProps) {
  const path = `/skills/${encodeURIComponent(name)}`;
  const toggle = async (enabled: boolean): Promise<void> => {
    await request(`${path}/enabled`, { method: "POST", body: { enabled } });
    const undo = { label: "Undo", run: () => toggle(!enabled) };
    showToast({ tone: "ok", text: `${name} is ${enabled ? "enabled" : "disabled"}`, action: undo });
    reportChange("catalog");
  };
  return (
    <Dialog form="drawer" title={name} onClose={onClose}>
      <Load<SkillDetail> path={path} reloadOn={["catalog"]}>
        {(skill, reload) => (
          <>
            <Text in="p" value={skill.description} limit={1_000} />
            {mayWrite && (
              <div class="row">
                <Button label={skill.enabled ? "Disable" : "Enable"} onClick={() => toggle(!skill.enabled)} />
              </div>
            )}
            <TextList class="notice notice-error" texts={skill.problems} />
            {skill.settings.length > 0 && (
              <SkillSettingsForm skill={skill} path={path} mayWrite={mayWrite} onSave={reload} />
            )}
            <section class="stack-tight">
              <h3>{countNoun(skill.methodPaths.length, "method")}</h3>
              <ul class="list">
                {skill.methodPaths.map((method) => (
                  <li key={method}>
                    <Text href={formatLink(["methods", method])} value={method} limit={200} />
                  </li>
                ))}
              </ul>
            </section>
          </>
        )}
      </Load>
    </Dialog>
  );
}

interface SettingsProps {
  readonly skill: SkillDetail;
  readonly path: string;
  readonly mayWrite: boolean;
  readonly onSave: () => void;
}

/** The settings by the schema of the skill. Secrets can be written, and are never shown. */
function SkillSettingsForm({ skill: { name, settings }, path, mayWrite, onSave }: SettingsProps) {
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
