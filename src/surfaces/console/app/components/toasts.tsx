import { closeToast, toasts } from "../state/toasts.ts";
import { Button } from "./elements.tsx";
import { Text } from "./text.tsx";

/** The messages at the edge of the window, which screen readers announce. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, fix, action }) => (
        <div class={`toast toast-${tone}`} key={id}>
          <div class="toast-text">
            <Text value={text} limit={400} />
            {fix !== undefined && <Text in="div" class="muted" value={fix} limit={400} />}
          </div>
          {action !== undefined && (
            <Button
              label={action.label}
              tone="small"
              onClick={() => {
                closeToast(id);
                return action.run();
              }}
            />
          )}
          <Button label="Dismiss" tone="quiet" icon="close" onClick={() => closeToast(id)} />
        </div>
      ))}
    </div>
  );
}
