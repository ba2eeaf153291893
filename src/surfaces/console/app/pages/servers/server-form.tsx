import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { announceChange } from "../../state/announce-change.ts";
import { parseEntry } from "./add-servers.tsx";

interface ServerFormProps {
  readonly name: string;
  /** Its entry with masked secrets; a mask that stays keeps its secret. */
  readonly entry: unknown;
  readonly onClose: () => void;
}

/** Edits the entry of a server. */
export function ServerForm({ name, entry, onClose }: ServerFormProps) {
  const save = async (values: FormValues): Promise<void> => {
    const body = { entry: parseEntry(values["entry"] ?? "") };
    await request(`/servers/${encodeURIComponent(name)}`, { method: "PUT", body });
    announceChange(`${name} is saved`, "servers");
    onClose();
  };
  return (
    <Dialog title={`Edit ${name}`} onClose={onClose}>
      <Form submit="Save" onSubmit={save} onCancel={onClose}>
        <Field
          name="entry"
          label="Entry"
          rows={10}
          value={JSON.stringify(entry, null, 2)}
          note="*** stands for a secret, which stays as it is."
        />
      </Form>
    </Dialog>
  );
}
