import { signal } from "@preact/signals";

import { showToast } from "./toasts.ts";

const KEY = "skillgate-notifications";

/** True if this browser notifies its reader of questions while the page is hidden. */
export const notifies = signal(
  "Notification" in globalThis && Notification.permission === "granted" && localStorage.getItem(KEY) === "on",
);

/** Switches notifications on or off; asks the reader when they are switched on. */
export async function switchNotifications(isWanted: boolean): Promise<void> {
  const isOn = isWanted && "Notification" in globalThis && (await Notification.requestPermission()) === "granted";
  notifies.value = isOn;
  localStorage.setItem(KEY, isOn ? "on" : "off");
  if (isWanted && !isOn)
    showToast({ tone: "error", text: "The browser blocks notifications of this address. Allow them in its settings" });
}

interface NotificationFacts {
  readonly id: string;
  readonly text: string;
  /** Opens the page that the notification is about. */
  readonly open: () => void;
}

export function notify({ id, text, open }: NotificationFacts): void {
  if (!notifies.value) return;
  const notification = new Notification("Skillgate", { body: text, tag: id });
  notification.addEventListener("click", () => {
    focus();
    open();
    notification.close();
  });
}
