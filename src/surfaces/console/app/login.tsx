import type { ProblemDetails } from "../messages.ts";
import { ErrorNotice } from "./components/elements.tsx";
import { Field, Form } from "./components/form.tsx";
import { logIn } from "./state/session.ts";

interface LoginProps {
  /** The reason why the last login has ended or failed. */
  readonly reason: ProblemDetails | undefined;
}

/** The form for a token or a key, and the way to a link. */
export function Login({ reason }: LoginProps) {
  return (
    <main class="login" id="content">
      <section class="card login-card stack">
        <h1>Skillgate</h1>
        <p class="muted">
          Run <code>skillgate console</code> in the folder of the project and open the link that it prints. Or enter the
          token of the server, or a key.
        </p>
        {reason !== undefined && <ErrorNotice error={reason} />}
        <Form submit="Log in" onSubmit={({ token = "" }) => logIn(token)}>
          <Field name="token" label="Token or key" type="password" autocomplete="current-password" required autofocus />
        </Form>
      </section>
    </main>
  );
}
