import { render } from "preact";
import { useEffect } from "preact/hooks";

import { ErrorNotice } from "./components/elements.tsx";
import { Layout } from "./layout.tsx";
import { Login } from "./login.tsx";
import { openEvents } from "./state/events.ts";
import { loadSession, session } from "./state/session.ts";
import { applyTheme } from "./state/theme.ts";
import "./style/index.css";

applyTheme();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);

/** The whole console: the login, or the pages. */
function App() {
  useEffect(() => void loadSession(), []);
  const state = session.value;
  useEffect(() => (state.kind === "open" ? openEvents() : undefined), [state.kind]);
  switch (state.kind) {
    case "loading":
      return <div class="splash" aria-busy="true" />;
    case "closed":
      return <Login reason={state.reason} />;
    case "failed":
      return (
        <main class="login">
          <ErrorNotice error={state.error} onRetry={() => void loadSession()} />
        </main>
      );
    case "open":
      return <Layout info={state.info} />;
  }
}
