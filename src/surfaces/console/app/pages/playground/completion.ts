import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";

import type { Completions } from "../../../messages.ts";
import { request } from "../../api.ts";

/** Code after which candidates are asked for without a key: a word, a dot, an open bracket, a quote. */
const BEGINNING = /[\w$.({,:"'`]\s?$/;

/** UTF-16 units before the cursor that the server reads. */
const MAX_CODE_UNITS = 100_000;

/** Completes skills, methods, names of arguments, and values that an argument can have. */
export async function completeProgram(context: CompletionContext): Promise<CompletionResult | null> {
  const { pos, state, explicit } = context;
  const code = state.sliceDoc(Math.max(0, pos - MAX_CODE_UNITS), pos);
  if (code.trim() === "" || (!explicit && !BEGINNING.test(code))) return null;
  const controller = new AbortController();
  context.addEventListener("abort", () => controller.abort());
  try {
    const body = { code };
    const { signal } = controller;
    const { candidates, length } = await request<Completions>("/complete", { method: "POST", body, signal });
    if (context.aborted || candidates.length === 0) return null;
    // The editor has closed the quote already.
    const next = state.sliceDoc(pos, pos + 1);
    const isClosed = /["'`]/.test(next) && candidates.every(({ label }) => label.endsWith(next));
    return {
      from: pos - length,
      ...(isClosed && { to: pos + 1 }),
      options: candidates.map(({ label, detail }) => ({ label, detail })),
      validFor: /^[\w$]*$/,
    };
  } catch {
    return null; // outdated, or the connection is lost, which the bar says
  }
}
