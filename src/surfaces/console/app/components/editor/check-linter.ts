import { type Diagnostic, linter } from "@codemirror/lint";
import type { Extension, Text } from "@codemirror/state";

import { request } from "../../api.ts";

/** Milliseconds without a key after which a text is checked. */
const PAUSE_MS = 250;

interface CheckLinterOptions<Check> {
  /** The endpoint that checks a text. */
  readonly path: string;
  /** The member of its body that has the text. */
  readonly member: "source" | "text";
  /** Receives each result; `undefined` for an empty text. */
  readonly onCheck: (check: Check | undefined) => void;
  readonly toDiagnostics: (check: Check, doc: Text) => readonly Diagnostic[];
}

/** Underlines the errors that a check of the server finds. */
export function createCheckLinter<Check>({
  path,
  member,
  onCheck,
  toDiagnostics,
}: CheckLinterOptions<Check>): Extension {
  let controller: AbortController | undefined;
  return linter(
    async ({ state: { doc } }) => {
      controller?.abort();
      controller = new AbortController();
      const { signal } = controller;
      const text = doc.toString();
      if (text.trim() === "") {
        onCheck(undefined);
        return [];
      }
      try {
        const check = await request<Check>(path, { method: "POST", body: { [member]: text }, signal });
        onCheck(check);
        return toDiagnostics(check, doc);
      } catch {
        return []; // outdated, or the connection is lost, which the bar says
      }
    },
    { delay: PAUSE_MS },
  );
}

/** Returns the offset of a place: a line from 1 and a column from 0. */
export function findOffset(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
  return Math.min(to, from + column);
}
