import { render } from "preact";

import { App } from "./app.tsx";
import { applyTheme } from "./state/theme.ts";
import "./style/index.css";

applyTheme();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
