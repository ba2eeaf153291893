import { useSignal } from "@preact/signals";

import { Button } from "./elements.tsx";

interface CopyButtonProps {
  readonly label?: string;
  readonly getText: () => string;
  readonly isPrimary?: boolean;
}

/** Copies a text, and says whether the browser has allowed it. */
export function CopyButton({ label = "Copy", getText, isPrimary = false }: CopyButtonProps) {
  const state = useSignal("");
  const copy = async (): Promise<void> => {
    const text = getText();
    try {
      await navigator.clipboard.writeText(text);
      state.value = "Copied";
    } catch {
      state.value = "The browser does not allow copying here. Select the text and copy it";
    }
  };
  return (
    <>
      <span class="muted small" role="status">
        {state.value}
      </span>
      <Button label={label} {...(isPrimary && { tone: "primary", autofocus: true })} onClick={copy} />
    </>
  );
}
