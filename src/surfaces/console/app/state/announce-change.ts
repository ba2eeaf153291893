import { type ChangedPart, reportChange } from "./events.ts";
import { showToast } from "./toasts.ts";

/** Tells the user what was changed, and reads again what the pages show of it. */
export function announceChange(text: string, name: ChangedPart): void {
  showToast({ tone: "ok", text });
  reportChange(name);
}
