import { signal } from "@preact/signals";

import { Dialog } from "./dialog.tsx";
import { Text } from "./text.tsx";

interface Question {
  readonly title: string;
  readonly text: string;
  /** The word of the button that does it: `Remove`. */
  readonly confirm: string;
}

const open = signal<(Question & { readonly resolve: (isSure: boolean) => void }) | undefined>(undefined);

/** Asks before something is deleted. Resolves to false when the dialog is closed. */
export function askToConfirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    open.value = {
      ...question,
      resolve(isSure) {
        open.value = undefined;
        resolve(isSure);
      },
    };
  });
}

/** The dialog of `askToConfirm`; the layout has it once. */
export function Confirmation() {
  const question = open.value;
  if (question === undefined) return null;
  const { title, text, confirm, resolve } = question;
  return (
    <Dialog title={title} onClose={() => resolve(false)}>
      <p>
        <Text value={text} />
      </p>
      <div class="dialog-actions">
        <button type="button" class="button" onClick={() => resolve(false)}>
          Cancel
        </button>
        <button type="button" class="button button-danger" onClick={() => resolve(true)}>
          {confirm}
        </button>
      </div>
    </Dialog>
  );
}
