import { useSignal } from "@preact/signals";

import type { ProblemDetails } from "../../../messages.ts";
import { request, toProblem } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { showToast } from "../../state/toasts.ts";

interface ServerFormProps {
  /** The server to edit; absent for a new one. */
  readonly name?: string;
  /** Its entry with masked secrets; a mask that stays keeps its secret. */
  readonly entry?: unknown;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const EXAMPLE = { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] };

const SCOPES = [
  ["project", "this project: .mcp.json, shared with others"],
  ["local", "this project, only for you"],
  ["user", "all your projects"],
] as const;

/** Adds a server, or edits the entry of one. */
export function ServerForm({ name, entry, onClose, onDone }: ServerFormProps) {
  const isNew = name === undefined;
  const newName = useSignal("");
  const scope = useSignal("project");
  const text = useSignal(JSON.stringify(entry ?? EXAMPLE, null, 2));
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const isBusy = useSignal(false);
  const save = async (): Promise<void> => {
    const parsed = parseEntry(text.value);
    if (isNew)
      await request("/servers", {
        method: "POST",
        body: { name: newName.value, scope: scope.value, entry: parsed },
      });
    else await request(`/servers/${encodeURIComponent(name)}`, { method: "PUT", body: { entry: parsed } });
    showToast({ tone: "ok", text: `${isNew ? newName.value : name} is saved` });
    onDone();
    onClose();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    isBusy.value = true;
    error.value = undefined;
    save()
      .catch((thrown: unknown) => (error.value = toProblem(thrown)))
      .finally(() => (isBusy.value = false));
  };
  return (
    <Dialog title={isNew ? "Add an MCP server" : `Edit ${name}`} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {isNew && <NewServerFields name={newName} scope={scope} />}
        <label class="field">
          <span>Entry</span>
          <textarea
            rows={10}
            spellcheck={false}
            value={text.value}
            onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          />
          <small class="field-note">
            {isNew
              ? 'A command with args and env, or a "url" with headers. Write secrets as ${VARIABLE}.'
              : "*** stands for a secret, which stays as it is."}
          </small>
        </label>
        {error.value !== undefined && <ErrorNotice error={error.value} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button button-primary" disabled={isBusy.value}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface NewServerFieldsProps {
  readonly name: { value: string };
  readonly scope: { value: string };
}

function NewServerFields({ name, scope }: NewServerFieldsProps) {
  return (
    <>
      <label class="field">
        <span>Name</span>
        <input
          required
          autofocus
          autocomplete="off"
          spellcheck={false}
          placeholder="filesystem"
          value={name.value}
          onInput={({ currentTarget }) => (name.value = currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>For</span>
        <select value={scope.value} onChange={({ currentTarget }) => (scope.value = currentTarget.value)}>
          {SCOPES.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

/** Throws a problem for a text that is not JSON. */
function parseEntry(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('The entry is not valid JSON; write { "command": "npx", "args": ["…"] }');
  }
}
