import { render } from "preact";
import { useEffect } from "preact/hooks";

import type { SessionInfo } from "../messages.ts";
import { ErrorNotice } from "./components/elements.tsx";
import { Layout } from "./layout.tsx";
import { Login } from "./login.tsx";
import { openEvents } from "./state/events.ts";
import { followQuestions } from "./state/questions.ts";
import { loadSession, session } from "./state/session.ts";
import { followTitle } from "./state/title.ts";
import { applyTheme } from "./state/theme.ts";
import "./style/index.css";

applyTheme();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);

/** Follows the server while a person is logged in. Returns the function that stops it. */
function follow(info: SessionInfo): () => void {
  const stops = [openEvents(), followQuestions(info), followTitle()];
  return () => {
    for (const stop of stops) stop();
  };
}

/** The whole console: the login, or the pages. */
function App() {
  useEffect(() => void loadSession(), []);
  const state = session.value;
  useEffect(() => (state.kind === "open" ? follow(state.info) : undefined), [state.kind]);
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
