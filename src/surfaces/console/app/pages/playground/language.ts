import {
  autocompletion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Diagnostic } from "@codemirror/lint";
import type { Extension, Text } from "@codemirror/state";
import { hoverTooltip, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { escapeControls } from "../../../../../shared/visible-text.ts";
import type { MethodDetail } from "../../../messages.ts";
import type { Completions, ProgramCheck } from "../../../program-messages.ts";
import { request } from "../../api.ts";
import { createCheckLinter, findOffset } from "../../components/editor/check-linter.ts";

/** Code after which candidates are asked for without a key: a word, a dot, an open bracket, a quote. */
const BEGINNING = /[\w$.({,:"'`]\s?$/;

/** UTF-16 units before the cursor that the server reads. */
const MAX_CODE_UNITS = 100_000;

/** Completes skills, methods, names of arguments, and values that an argument can have. */
async function completeProgram(context: CompletionContext): Promise<CompletionResult | null> {
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

/** UTF-16 units of a type that a tooltip shows. */
const MAX_TYPE_UNITS = 4_000;

/** Shows the declaration of a method while the pointer is on it. */
function createTypeTooltip(): Extension {
  return hoverTooltip(async ({ state: { doc } }, position) => {
    const { from, text } = doc.lineAt(position);
    const found = [...text.matchAll(METHOD)].find(
      ({ index, 0: { length } }) => index <= position - from && position - from <= index + length,
    );
    const path = found?.[1]?.replaceAll(/\s/g, "");
    if (found === undefined || path === undefined) return null;
    try {
      const method = await request<MethodDetail>(`/methods/${encodeURIComponent(path)}`);
      const create = (): { readonly dom: HTMLElement } => ({ dom: createTypeText(method.text) });
      return { pos: from + found.index, end: from + found.index + found[0].length, above: true, create };
    } catch {
      return null; // there is no such method, which the check says
    }
  });
}

const METHOD = /\bdevices?\s*\.\s*((?:[\w$]+\s*\.\s*){1,2}[\w$]+)/g;

function createTypeText(text: string): HTMLElement {
  const dom = document.createElement("pre");
  dom.className = "cm-type";
  dom.textContent = escapeControls(text.slice(0, MAX_TYPE_UNITS));
  return dom;
}

/** The language of programs: completion, types, and the errors that the check of the server finds. */
export function createProgramLanguage(onCheck: (check: ProgramCheck | undefined) => void): Extension {
  return [
    javascript({ typescript: true }),
    syntaxHighlighting(HIGHLIGHT),
    autocompletion({ override: [completeProgram], icons: false }),
    keymap.of(completionKeymap),
    createTypeTooltip(),
    createCheckLinter<ProgramCheck>({
      path: "/check",
      member: "source",
      onCheck,
      toDiagnostics: ({ violations }, doc) => violations.map((violation) => toDiagnostic(violation, doc)),
    }),
  ];
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.comment], color: "var(--text-muted)", fontStyle: "italic" },
]);

function toDiagnostic(violation: ProgramCheck["violations"][number], doc: Text): Diagnostic {
  const { line, column, endLine, endColumn, message, fix, code } = violation;
  const from = findOffset(doc, line, column);
  const to = Math.max(from, findOffset(doc, endLine, endColumn));
  return { from, to, severity: "error", source: code, message: fix === "" ? message : `${message}\n${fix}` };
}
