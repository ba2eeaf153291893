import type { AnyNode } from "acorn";
import type { ErrorCode } from "../errors.ts";
import { type SourceFinding, type SourceText, createViolation } from "../shared/source-text.ts";
import type { Violation } from "../model/outcome.ts";
import type { Edit } from "../model/program.ts";

/** The maximum number of reported violations. */
const MAX_VIOLATIONS = 50;

/** The maximum number of reported notes. */
const MAX_NOTES = 10;

/** The parts of a violation message. Created only for reported violations, because the search for similar names is slow. */
export interface MessageParts {
  readonly values: string;
  readonly fix?: string | undefined;
  readonly suggestions?: readonly string[];
}

/** Collects the violations, edits and notes of all steps of the gatekeeper. */
export class Report {
  readonly edits: Edit[] = [];
  readonly #findings: {
    readonly code: ErrorCode;
    readonly start: number;
    readonly end: number;
    readonly createMessage: () => MessageParts;
  }[] = [];
  readonly #notes = new Set<string>();

  refuse(code: ErrorCode, { start, end }: Pick<AnyNode, "start" | "end">, createMessage: () => MessageParts): void {
    this.#findings.push({ code, start, end, createMessage });
  }

  /** Adds a note; equal notes are reported once. */
  note(text: string): void {
    this.#notes.add(text);
  }

  replace({ start, end }: Pick<AnyNode, "start" | "end">, text: string): void {
    this.edits.push({ kind: "replace", start, end, text });
  }

  wrap({ start, end }: Pick<AnyNode, "start" | "end">, before: string, after: string): void {
    this.edits.push({ kind: "wrap", start, end, before, after });
  }

  get clean(): boolean {
    return this.#findings.length === 0;
  }

  notes(): readonly string[] {
    return [...this.#notes].slice(0, MAX_NOTES);
  }

  /** The violations in source order, at most one per position and code. */
  violations(sourceText: SourceText): readonly Violation[] {
    const ordered = this.#findings.sort((a, b) => a.start - b.start || a.end - b.end);
    const distinct = ordered.filter((finding, index) => {
      const before = ordered[index - 1];
      return before === undefined || before.start !== finding.start || before.code !== finding.code;
    });
    const reported = distinct.slice(0, MAX_VIOLATIONS);
    const more = distinct.length - reported.length;
    return reported.map(({ createMessage, ...finding }, index) => {
      const { fix, ...parts } = createMessage();
      const last = more > 0 && index === reported.length - 1 ? ` (${more} more violations are not listed)` : "";
      const whole: SourceFinding = { ...finding, ...parts, ...(fix !== undefined && { fix }) };
      const violation = createViolation(sourceText, whole);
      return last === "" ? violation : { ...violation, fix: violation.fix + last };
    });
  }
}
