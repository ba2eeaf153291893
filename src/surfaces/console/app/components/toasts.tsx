import { closeToast, toasts } from "../state/toasts.ts";
import { Icon } from "./icon.tsx";
import { Text } from "./text.tsx";

/** The messages at the edge of the window, which screen readers announce. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, tone, text, fix, action }) => (
        <div class={`toast toast-${tone}`} key={id}>
          <div class="toast-text">
            <Text value={text} limit={400} />
            {fix !== undefined && (
              <div class="muted">
                <Text value={fix} limit={400} />
              </div>
            )}
          </div>
          {action !== undefined && (
            <button
              type="button"
              class="button button-small"
              onClick={() => {
                closeToast(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="button button-quiet" aria-label="Dismiss" onClick={() => closeToast(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
