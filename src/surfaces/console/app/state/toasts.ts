import { signal } from "@preact/signals";

import { toProblem } from "../api.ts";

/** A short message that goes away by itself. */
export interface Toast {
  readonly id: number;
  readonly tone: "ok" | "error";
  readonly text: string;
  readonly fix?: string;
  /** A button, such as the one that takes a deletion back. */
  readonly action?: { readonly label: string; readonly run: () => unknown };
}

export const toasts = signal<readonly Toast[]>([]);

const SHOW_MS = 6_000;
let lastToast = 0;

export function showToast(toast: Omit<Toast, "id">): void {
  const id = ++lastToast;
  toasts.value = [...toasts.value.slice(-3), { ...toast, id }];
  setTimeout(() => closeToast(id), toast.action === undefined && toast.tone === "ok" ? SHOW_MS : SHOW_MS * 2);
}

export function closeToast(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Reports a thrown value with the sentence of the error table. */
export function showError(thrown: unknown): void {
  const { detail, title, fix } = toProblem(thrown);
  showToast({ tone: "error", text: detail ?? title, fix });
}
