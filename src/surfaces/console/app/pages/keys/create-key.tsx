import { useSignal } from "@preact/signals";

import type { ProblemDetails } from "../../../messages.ts";
import type { IssuedKey } from "../../../admin-messages.ts";
import { request, toProblem } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { formatLink, navigate } from "../../router.ts";

/** The fields of the form as they are typed. */
interface KeyForm {
  readonly name: string;
  readonly invoke: string;
  readonly read: string;
  readonly scopes: string;
  readonly roles: string;
  readonly perMinute: string;
  readonly perHour: string;
  readonly days: string;
  readonly admin: "" | "AdminRead" | "AdminWrite";
}

const EMPTY: KeyForm = {
  name: "",
  invoke: "",
  read: "",
  scopes: "",
  roles: "",
  perMinute: "",
  perHour: "",
  days: "90",
  admin: "",
};

const DAY_MS = 86_400_000;

const FIELDS = [
  ["name", "Name", "For people, such as the program that uses it", "ada"],
  ["invoke", "May call", "Skill.method, Skill.* or *, separated by spaces", "MathSkill.* TimeSkill.getCurrentTime"],
  ["read", "May also see", "Methods that it may find but not call", ""],
  ["scopes", "Scopes", "Scopes that methods or the policy require", "mail:send"],
  ["roles", "Roles", "Roles of policies/roles.yaml", ""],
] as const;

const NUMBERS = [
  ["perMinute", "Requests a minute"],
  ["perHour", "Requests an hour"],
  ["days", "Valid for days"],
] as const;

interface CreateKeyDialogProps {
  readonly isLasting: boolean;
  readonly onIssued: (issued: IssuedKey) => void;
}

/** The form for a new key. Empty limits are none. */
export function CreateKeyDialog({ isLasting, onIssued }: CreateKeyDialogProps) {
  const form = useSignal(EMPTY);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const isBusy = useSignal(false);
  const change = (name: keyof KeyForm, value: string): void => {
    form.value = { ...form.value, [name]: value };
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const issued = await request<IssuedKey>("/keys", { method: "POST", body: toBody(form.value) });
      navigate(formatLink(["keys"]));
      onIssued(issued);
    } catch (thrown) {
      error.value = toProblem(thrown);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title="Create a key" onClose={() => navigate(formatLink(["keys"]))}>
      <form class="form" onSubmit={(event) => void submit(event)}>
        {!isLasting && <p class="notice">The store is in memory, so the key ends with the server.</p>}
        {error.value !== undefined && <ErrorNotice error={error.value} />}
        <Fields form={form.value} onChange={change} />
        <div class="dialog-actions">
          <button type="submit" class="button button-primary" disabled={isBusy.value}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  readonly form: KeyForm;
  readonly onChange: (name: keyof KeyForm, value: string) => void;
}

function Fields({ form, onChange }: FieldsProps) {
  return (
    <>
      {FIELDS.map(([name, label, note, example]) => (
        <label key={name} class="field">
          <span>{label}</span>
          <input
            type="text"
            required={name === "name"}
            autofocus={name === "name"}
            autocomplete="off"
            spellcheck={false}
            placeholder={example}
            value={form[name]}
            onInput={({ currentTarget }) => onChange(name, currentTarget.value)}
          />
          <small class="field-note">{note}</small>
        </label>
      ))}
      <div class="form-row">
        {NUMBERS.map(([name, label]) => (
          <label key={name} class="field">
            <span>{label}</span>
            <input
              type="number"
              min="1"
              placeholder="no limit"
              value={form[name]}
              onInput={({ currentTarget }) => onChange(name, currentTarget.value)}
            />
          </label>
        ))}
      </div>
      <label class="field">
        <span>Administration</span>
        <select value={form.admin} onChange={({ currentTarget }) => onChange("admin", currentTarget.value)}>
          <option value="">none</option>
          <option value="AdminRead">sees keys, approvals, policy and audit log</option>
          <option value="AdminWrite">also answers approvals and changes settings</option>
        </select>
      </label>
    </>
  );
}

function toBody({ name, invoke, read, scopes, roles, perMinute, perHour, days, admin }: KeyForm): object {
  return {
    name: name.trim(),
    permissions: [
      ...splitWords(invoke).map((pattern) => `ToolInvoke(${pattern})`),
      ...splitWords(read).map((pattern) => `ToolRead(${pattern})`),
      ...(admin === "" ? [] : [admin]),
    ],
    scopes: splitWords(scopes),
    roles: splitWords(roles),
    limits: {
      ...(perMinute !== "" && { perMinute: Number(perMinute) }),
      ...(perHour !== "" && { perHour: Number(perHour) }),
    },
    ...(days !== "" && { expires: Date.now() + Number(days) * DAY_MS }),
  };
}

function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
