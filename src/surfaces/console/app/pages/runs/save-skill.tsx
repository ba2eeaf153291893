import type { SavedSkillFacts } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form, type FormValues } from "../../components/form.tsx";
import { showToast } from "../../state/toasts.ts";

interface SaveSkillDialogProps {
  readonly run: string;
  readonly onClose: () => void;
}

/** The form that makes a saved skill of a run. */
export function SaveSkillDialog({ run, onClose }: SaveSkillDialogProps) {
  const save = async ({ name, description, parameters = "" }: FormValues): Promise<void> => {
    const lines = parameters.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
    const body = { name, description, parameters: lines };
    const saved = await request<SavedSkillFacts>(`/runs/${encodeURIComponent(run)}/skill`, { method: "POST", body });
    showToast({ tone: "ok", text: `Saved ${saved.path}(${saved.parameters.join(", ")}) in ${saved.file}` });
    onClose();
  };
  return (
    <Dialog title="Save as a skill" onClose={onClose}>
      <p class="muted">The program becomes a method that later programs call. Its recorded calls become its test.</p>
      <Form submit="Save" onSubmit={save}>
        <Field name="name" label="Name" required autofocus placeholder="city weather" note="One or a few words" />
        <Field name="description" label="Description" note="What it does, for search" />
        <Field
          name="parameters"
          label="Parameters"
          rows={3}
          placeholder={"city\norder=1001"}
          note="One a line: a constant of the program, or a name with the value that it replaces"
        />
      </Form>
    </Dialog>
  );
}
