import { useSignal } from "@preact/signals";

import type { ProblemDetails } from "../../../messages.ts";
import type { SavedSkillFacts } from "../../../run-messages.ts";
import { request, toProblem } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { showToast } from "../../state/toasts.ts";

interface SaveSkillDialogProps {
  readonly run: string;
  readonly onClose: () => void;
}

const EMPTY = { name: "", description: "", parameters: "" };

/** The form that makes a saved skill of a run. */
export function SaveSkillDialog({ run, onClose }: SaveSkillDialogProps) {
  const form = useSignal(EMPTY);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const isBusy = useSignal(false);
  const change = (name: keyof typeof EMPTY, value: string): void => {
    form.value = { ...form.value, [name]: value };
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const { name, description, parameters } = form.value;
      const lines = parameters.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
      const body = { name, description, parameters: lines };
      const saved = await request<SavedSkillFacts>(`/runs/${encodeURIComponent(run)}/skill`, { method: "POST", body });
      showToast({ tone: "ok", text: `Saved ${saved.path}(${saved.parameters.join(", ")}) in ${saved.file}` });
      onClose();
    } catch (thrown) {
      error.value = toProblem(thrown);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title="Save as a skill" onClose={onClose}>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <p class="muted">The program becomes a method that later programs call. Its recorded calls become its test.</p>
        {error.value !== undefined && <ErrorNotice error={error.value} />}
        <Fields form={form.value} onChange={change} />
        <div class="dialog-actions">
          <button type="submit" class="button button-primary" disabled={isBusy.value}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface SkillFieldsProps {
  readonly form: typeof EMPTY;
  readonly onChange: (name: keyof typeof EMPTY, value: string) => void;
}

function Fields({ form, onChange }: SkillFieldsProps) {
  return (
    <>
      <label class="field">
        <span>Name</span>
        <input
          type="text"
          required
          autofocus
          autocomplete="off"
          placeholder="city weather"
          value={form.name}
          onInput={({ currentTarget }) => onChange("name", currentTarget.value)}
        />
        <small class="field-note">One or a few words</small>
      </label>
      <label class="field">
        <span>Description</span>
        <input
          type="text"
          autocomplete="off"
          value={form.description}
          onInput={({ currentTarget }) => onChange("description", currentTarget.value)}
        />
        <small class="field-note">What it does, for search</small>
      </label>
      <label class="field">
        <span>Parameters</span>
        <textarea
          rows={3}
          spellcheck={false}
          placeholder={"city\norder=1001"}
          value={form.parameters}
          onInput={({ currentTarget }) => onChange("parameters", currentTarget.value)}
        />
        <small class="field-note">
          One a line: a constant of the program, or a name with the value that it replaces
        </small>
      </label>
    </>
  );
}
