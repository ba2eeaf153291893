import { useSignal } from "@preact/signals";

import type { ProblemDetails } from "../messages.ts";
import { toProblem } from "./api.ts";
import { ErrorNotice } from "./components/error-notice.tsx";
import { logIn } from "./state/session.ts";

interface LoginProps {
  /** The reason why the last login has ended or failed. */
  readonly reason: ProblemDetails | undefined;
}

/** The form for a token or a key, and the way to a link. */
export function Login({ reason }: LoginProps) {
  const token = useSignal("");
  const isBusy = useSignal(false);
  const error = useSignal(reason);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    try {
      await logIn(token.value);
    } catch (thrown) {
      error.value = toProblem(thrown);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <main class="login" id="content">
      <form class="card login-card" onSubmit={(event) => void submit(event)}>
        <h1>Skillgate</h1>
        <p class="muted">
          Run <code>skillgate console</code> in the folder of the project and open the link that it prints. Or enter the
          token of the server, or a key.
        </p>
        {error.value !== undefined && <ErrorNotice error={error.value} />}
        <label class="field">
          <span>Token or key</span>
          <input
            type="password"
            autocomplete="current-password"
            required
            autofocus
            value={token.value}
            onInput={({ currentTarget }) => (token.value = currentTarget.value)}
          />
        </label>
        <button type="submit" class="button button-primary" disabled={isBusy.value}>
          Log in
        </button>
      </form>
    </main>
  );
}
