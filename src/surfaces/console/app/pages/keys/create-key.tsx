import type { IssuedKey } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { PatternField } from "../../components/pattern-field.tsx";
import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { formatLink, navigate } from "../../router.ts";

const DAY_MS = 86_400_000;

const RIGHTS: readonly Choice[] = [
  ["", "none"],
  ["admin:Read", "sees runs, keys, approvals, policy and audit log"],
  ["admin:AnswerApprovals", "also answers approvals of others"],
  ["admin:AnswerApprovals admin:ManageRuns", "also continues and cancels runs of others, and uses the chat"],
  ["admin:ManageServers", "changes servers and skills: runs commands as the user of this server"],
];

interface CreateKeyDialogProps {
  readonly isLasting: boolean;
  readonly onIssued: (issued: IssuedKey) => void;
}

/** The form for a new key. Empty limits are none. */
export function CreateKeyDialog({ isLasting, onIssued }: CreateKeyDialogProps) {
  const close = (): void => navigate(formatLink(["keys"]));
  const create = async (values: FormValues): Promise<void> => {
    const issued = await request<IssuedKey>("/keys", { method: "POST", body: toKeyBody(values) });
    close();
    onIssued(issued);
  };
  return (
    <Dialog title="Create a key" onClose={close}>
      <Form submit="Create" onSubmit={create}>
        {!isLasting && <p class="notice">The store is in memory, so the key ends with the server.</p>}
        <Field
          name="name"
          label="Name"
          note="For people, such as the program that uses it"
          placeholder="ada"
          required
          autofocus
        />
        <PatternField
          name="invoke"
          label="May call"
          note="Skill.method, Skill.* or *, separated by spaces"
          placeholder="MathSkill.* TimeSkill.getCurrentTime"
        />
        <PatternField name="read" label="May also see" note="Methods that it may find but not call" />
        <Field name="scopes" label="Scopes" note="Scopes that methods or the policy require" placeholder="mail:send" />
        <Field name="roles" label="Roles" note="Roles of policies/tools.yaml" />
        <div class="form-row">
          <Field name="perMinute" label="Requests a minute" type="number" min="1" placeholder="no limit" />
          <Field name="perHour" label="Requests an hour" type="number" min="1" placeholder="no limit" />
          <Field name="maxRunning" label="Programs at once" type="number" min="1" placeholder="no limit" />
          <Field name="days" label="Valid for days" type="number" min="1" placeholder="no limit" value="90" />
        </div>
        <Field name="admin" label="Administration" choices={RIGHTS} />
      </Form>
    </Dialog>
  );
}

export function toKeyBody({
  name = "",
  invoke,
  read,
  scopes,
  roles,
  perMinute = "",
  perHour = "",
  maxRunning = "",
  days = "",
  admin,
}: FormValues): object {
  return {
    name: name.trim(),
    permissions: [
      ...splitWords(invoke).map((pattern) => `call:${pattern}`),
      ...splitWords(read).map((pattern) => `see:${pattern}`),
      ...splitWords(admin),
    ],
    scopes: splitWords(scopes),
    roles: splitWords(roles),
    limits: {
      ...(perMinute !== "" && { perMinute: Number(perMinute) }),
      ...(perHour !== "" && { perHour: Number(perHour) }),
      ...(maxRunning !== "" && { maxRunning: Number(maxRunning) }),
    },
    ...(days !== "" && { expires: Date.now() + Number(days) * DAY_MS }),
  };
}

function splitWords(text = ""): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}
