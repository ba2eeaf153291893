import { signal } from "@preact/signals";

/** `auto` follows the system. */
export type Theme = "auto" | "light" | "dark";

export const THEMES: readonly Theme[] = ["auto", "light", "dark"];

const KEY = "skillgate-theme";

export const theme = signal<Theme>(readTheme());

function readTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((each) => each === stored) ?? "auto";
}

/** Applies the theme of this browser to the page. */
export function applyTheme(): void {
  if (theme.value === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme.value;
}

export function selectTheme(choice: Theme): void {
  theme.value = choice;
  localStorage.setItem(KEY, choice);
  applyTheme();
}
