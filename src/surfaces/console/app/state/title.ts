import { effect, signal } from "@preact/signals";

import { questions } from "./questions.ts";

/** The title of the page that is shown. */
export const pageTitle = signal("Overview");

/** Shows the title of the page, and the number of calls that wait for an answer, in the tab of the browser. */
export function followTitle(): () => void {
  return effect(() => {
    const count = questions.value.length;
    document.title = `${count === 0 ? "" : `(${count}) `}${pageTitle.value} · Skillgate`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    if (icon === null) return;
    icon.dataset["plain"] ??= icon.href;
    icon.href = count === 0 ? icon.dataset["plain"] : MARKED_ICON;
  });
}

/** The icon with a dot. */
const MARKED_ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4353d0"/>' +
    '<path d="M8 24V14a8 8 0 0 1 16 0v10M16 24V13" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>' +
    '<circle cx="24" cy="8" r="8" fill="#e5484d"/></svg>',
)}`;
