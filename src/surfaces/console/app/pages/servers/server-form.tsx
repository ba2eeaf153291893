import { InputError, request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { reportChange } from "../../state/events.ts";
import { showToast } from "../../state/toasts.ts";

interface ServerFormProps {
  /** The server to edit; absent for a new one. */
  readonly name?: string;
  /** Its entry with masked secrets; a mask that stays keeps its secret. */
  readonly entry?: unknown;
  readonly onClose: () => void;
}

const EXAMPLE = { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] };

const SCOPES: readonly Choice[] = [
  ["project", "this project: .mcp.json, shared with others"],
  ["local", "this project, only for you"],
  ["user", "all your projects"],
];

/** Adds a server, or edits the entry of one. */
export function ServerForm({ name, entry, onClose }: ServerFormProps) {
  const isNew = name === undefined;
  const save = async (values: FormValues): Promise<void> => {
    const parsed = parseEntry(values["entry"] ?? "");
    if (isNew) await request("/servers", { method: "POST", body: { ...values, entry: parsed } });
    else await request(`/servers/${encodeURIComponent(name)}`, { method: "PUT", body: { entry: parsed } });
    showToast({ tone: "ok", text: `${name ?? values["name"]} is saved` });
    reportChange("servers");
    onClose();
  };
  return (
    <Dialog title={isNew ? "Add an MCP server" : `Edit ${name}`} onClose={onClose}>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        {isNew && <Field name="name" label="Name" required autofocus placeholder="filesystem" />}
        {isNew && <Field name="scope" label="For" choices={SCOPES} />}
        <Field
          name="entry"
          label="Entry"
          rows={10}
          value={JSON.stringify(entry ?? EXAMPLE, null, 2)}
          note={
            isNew
              ? 'A command with args and env, or a "url" with headers. Write secrets as ${VARIABLE}.'
              : "*** stands for a secret, which stays as it is."
          }
        />
      </Form>
    </Dialog>
  );
}

/** Throws a problem for a text that is not JSON. */
function parseEntry(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError('The entry is not valid JSON; write { "command": "npx", "args": ["…"] }');
  }
}
