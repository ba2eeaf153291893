import { signal } from "@preact/signals";

import type { SessionInfo } from "../../messages.ts";
import type { ApprovalLists } from "../../program-messages.ts";
import { request } from "../api.ts";
import { formatLink, navigate, route } from "../router.ts";
import { onEvent, onStale } from "./events.ts";
import { notify } from "./notifications.ts";
import { showToast } from "./toasts.ts";

/** The ids of the calls that wait for an answer. */
export const questions = signal<readonly string[]>([]);

/** Pages that show a new question themselves. */
const PAGES_WITH_QUESTIONS: ReadonlySet<string | undefined> = new Set(["approvals", "chat", "methods", "playground"]);

/** Counts the questions, and announces each new one to those who may answer. Returns the function that stops it. */
export function followQuestions({ admin }: SessionInfo): () => void {
  const load = (): void =>
    void request<ApprovalLists>("/approvals?state=pending").then(
      ({ pending }) => (questions.value = pending.map(({ id }) => id)),
      () => {}, // the bar says that the connection is lost
    );
  load();
  const stops = [
    onStale(load),
    onEvent("approvals", ({ pending }) => (questions.value = pending)),
    onEvent("approval", (question) => admin.includes("AnswerApprovals") && announce(question)),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function announce({ id, path }: { readonly id: string; readonly path: string }): void {
  const open = (): void => navigate(formatLink(["approvals", id]));
  if (document.hidden) notify({ id, text: `${path} waits for an answer`, open });
  else if (!PAGES_WITH_QUESTIONS.has(route.value.segments[0]))
    showToast({ tone: "ok", text: `${path} waits for an answer`, action: { label: "Open", run: open } });
}
