import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { EditorState, type Extension, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "preact/hooks";

interface CodeEditorProps {
  /** The name of the editor for screen readers. */
  readonly label: string;
  /** The text at first. */
  readonly text: string;
  /** The language; read once. */
  readonly extensions: Extension;
  readonly onChange: (text: string) => void;
  /** Called at Ctrl Enter. */
  readonly onSubmit: () => void;
  /** Receives the view, for moves of the cursor. */
  readonly view?: { current: EditorView | null };
}

/** An editor for code, with the errors of its check under their places. */
export function CodeEditor({ label, text, extensions, view, ...listeners }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(listeners);
  latest.current = listeners;
  useEffect(() => {
    if (host.current === null) return undefined;
    const submit = (): boolean => {
      latest.current.onSubmit();
      return true;
    };
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: text,
        extensions: [
          EditorView.cspNonce.of(readNonce()),
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: submit }])),
          lineNumbers(),
          highlightSpecialChars({ addSpecialChars: /[\u202a-\u202e\u2066-\u2069\u200e\u200f]/g }),
          history(),
          drawSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          extensions,
          lintGutter(),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    if (view !== undefined) view.current = editor;
    return () => {
      if (view !== undefined) view.current = null;
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
