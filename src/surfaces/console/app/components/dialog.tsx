import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

import { Button } from "./elements.tsx";
import { Text } from "./text.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** `drawer` takes the height of the window at its side. */
  readonly form?: "box" | "drawer" | "palette";
}

/** A modal dialog. The browser keeps the focus inside, closes it at Escape, and returns the focus to where it was. */
export function Dialog({ title, onClose, children, form = "box" }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={`dialog dialog-${form}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div class="stack dialog-body">
        <header class={form === "palette" ? "visually-hidden" : "row dialog-header"}>
          <h2 id={id}>{title}</h2>
          {form !== "palette" && <Button label="Close" tone="quiet" icon="close" onClick={onClose} />}
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface Question {
  readonly title: string;
  readonly text: string;
  /** The word of the button that does it: `Remove`. */
  readonly confirm: string;
}

const open = signal<(Question & { readonly resolve: (isSure: boolean) => void }) | undefined>(undefined);

/** Asks before something is deleted. Resolves to false when the dialog is closed. */
export function askToConfirm(question: Question): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  open.value = { ...question, resolve };
  return promise.finally(() => (open.value = undefined));
}

/** The dialog of `askToConfirm`; the layout has it once. */
export function Confirmation() {
  const question = open.value;
  if (question === undefined) return null;
  const { title, text, confirm, resolve } = question;
  return (
    <Dialog title={title} onClose={() => resolve(false)}>
      <Text in="p" value={text} />
      <div class="row form-actions">
        <Button label="Cancel" onClick={() => resolve(false)} />
        <Button label={confirm} tone="danger" onClick={() => resolve(true)} />
      </div>
    </Dialog>
  );
}
