import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { EditorState, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef } from "preact/hooks";

import type { ProgramCheck } from "../../../program-messages.ts";
import { completeProgram, createProgramLinter, createTypeTooltip } from "./language.ts";

interface EditorProps {
  /** The text at first. */
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly onCheck: (check: ProgramCheck | undefined) => void;
  readonly onRun: () => void;
  /** Receives the view, for moves of the cursor. */
  readonly view: { current: EditorView | null };
}

/** An editor for programs, with completion and with the errors of the check under their places. */
export function Editor({ text, view, ...listeners }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(listeners);
  latest.current = listeners;
  useEffect(() => {
    if (host.current === null) return undefined;
    const run = (): boolean => {
      latest.current.onRun();
      return true;
    };
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(readNonce()),
          Prec.highest(keymap.of([{ key: "Mod-Enter", run }])),
          lineNumbers(),
          highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g }),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          javascript({ typescript: true }),
          syntaxHighlighting(HIGHLIGHT),
          autocompletion({ override: [completeProgram], icons: false }),
          createTypeTooltip(),
          createProgramLinter((check) => latest.current.onCheck(check)),
          lintGutter(),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ "aria-label": "Program", spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => {
      view.current = null;
      editor.destroy();
    };
  }, []);
  return <div class="editor" ref={host} />;
}

/** Replaces the whole text of an editor. */
export function replaceText(editor: EditorView, text: string): void {
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: text } });
}

/** Moves the cursor to a place: a line from 1 and a column from 0. */
export function moveCursor(editor: EditorView, line: number, column: number): void {
  const { doc } = editor.state;
  const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
  editor.dispatch({ selection: { anchor: Math.min(to, from + column) }, scrollIntoView: true });
  editor.focus();
}

/** The policy of the page accepts the styles of the editor only with this. */
function readNonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.content ?? "";
}

const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.comment], color: "var(--text-muted)", fontStyle: "italic" },
]);
