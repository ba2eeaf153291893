import { type Diagnostic, linter } from "@codemirror/lint";
import type { Extension, Text } from "@codemirror/state";

import type { ProgramCheck } from "../../../messages.ts";
import { request } from "../../api.ts";

/** Milliseconds without a key after which the program is checked. */
const PAUSE_MS = 250;

/** Underlines the errors that the check of the server finds. `undefined` is reported for an empty program. */
export function createProgramLinter(onCheck: (check: ProgramCheck | undefined) => void): Extension {
  let controller: AbortController | undefined;
  return linter(
    async ({ state: { doc } }) => {
      controller?.abort();
      controller = new AbortController();
      const { signal } = controller;
      const source = doc.toString();
      if (source.trim() === "") {
        onCheck(undefined);
        return [];
      }
      try {
        const check = await request<ProgramCheck>("/check", { method: "POST", body: { source }, signal });
        onCheck(check);
        return check.violations.map((violation) => toDiagnostic(violation, doc));
      } catch {
        return []; // outdated, or the connection is lost, which the bar says
      }
    },
    { delay: PAUSE_MS },
  );
}

function toDiagnostic(violation: ProgramCheck["violations"][number], doc: Text): Diagnostic {
  const { line, column, endLine, endColumn, message, fix, code } = violation;
  const from = findOffset(doc, line, column);
  const to = Math.max(from, findOffset(doc, endLine, endColumn));
  return { from, to, severity: "error", source: code, message: fix === "" ? message : `${message}\n${fix}` };
}

function findOffset(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.max(1, Math.min(doc.lines, line)));
  return Math.min(to, from + column);
}
