import type { AnyNode } from "acorn";
import type { ErrorCode } from "../errors.ts";
import { type SourceFinding, type SourceText, createViolation } from "../shared/source-text.ts";
import type { Violation } from "../model/outcome.ts";
import type { Edit } from "../model/snippet.ts";

/** Violations that are told at once. */
const MAX_VIOLATIONS = 50;

/** Notes that are told at once. */
const MAX_NOTES = 10;

/** The words of a violation: made only for those that are told, as the search for near names is not free. */
export interface MessageParts {
  readonly values: string;
  readonly fix?: string | undefined;
  readonly suggestions?: readonly string[];
}

/** What the rooms of the gatekeeper find, change and tell. */
export class Report {
  readonly edits: Edit[] = [];
  readonly #findings: {
    readonly code: ErrorCode;
    readonly start: number;
    readonly end: number;
    readonly words: () => MessageParts;
  }[] = [];
  readonly #notes = new Set<string>();

  refuse(code: ErrorCode, { start, end }: Pick<AnyNode, "start" | "end">, words: () => MessageParts): void {
    this.#findings.push({ code, start, end, words });
  }

  /** Said once, however often it happens. */
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

  /** In the order of the text; of what is wrong at one place for one reason, the first. */
  violations(sourceText: SourceText): readonly Violation[] {
    const ordered = this.#findings.sort((a, b) => a.start - b.start || a.end - b.end);
    const distinct = ordered.filter((finding, index) => {
      const before = ordered[index - 1];
      return before === undefined || before.start !== finding.start || before.code !== finding.code;
    });
    const told = distinct.slice(0, MAX_VIOLATIONS);
    const more = distinct.length - told.length;
    return told.map(({ words, ...finding }, index) => {
      const { fix, ...said } = words();
      const last = more > 0 && index === told.length - 1 ? ` (${more} more violations are not listed)` : "";
      const whole: SourceFinding = { ...finding, ...said, ...(fix !== undefined && { fix }) };
      const violation = createViolation(sourceText, whole);
      return last === "" ? violation : { ...violation, fix: violation.fix + last };
    });
  }
}
