import { useSignal } from "@preact/signals";

import type { IssuedKey } from "../../../admin-messages.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";

interface IssuedKeyDialogProps {
  readonly issued: IssuedKey;
  readonly onClose: () => void;
}

/** Shows the text of a new key once, and copies it. */
export function IssuedKeyDialog({ issued: { text, key }, onClose }: IssuedKeyDialogProps) {
  const state = useSignal("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = "Copied";
    } catch {
      state.value = "The browser does not allow copying here. Select the key and copy it";
    }
  };
  return (
    <Dialog title={`The key ${key.name}`} onClose={onClose}>
      <p>Copy the key now. It cannot be shown again, because only its digest is stored.</p>
      <output class="secret" aria-label="Key">
        <code>{text}</code>
      </output>
      {key.previousExpires !== null && key.previousExpires > Date.now() && (
        <p class="muted">
          The old secret is valid until <Time at={key.previousExpires} />.
        </p>
      )}
      <p class="muted" role="status">
        <Text value={state.value} />
      </p>
      <div class="dialog-actions">
        <button type="button" class="button button-primary" autofocus onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" class="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
