/** A type error at one position of a program. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  /** Offsets in the code as it was given. */
  readonly start: number;
  readonly end: number;
  /** `"b" of MathSkill.add must be a number, not a string`. */
  readonly message: string;
  /** False for what is only likely to be wrong. */
  readonly certain: boolean;
  /** The names that may have been meant, the nearest first. */
  readonly suggestions: readonly string[];
}

export type DiagnosticCode =
  /** An argument, or a part of it, has another type than its parameter. */
  | "ARGUMENT_TYPE"
  /** A required argument is not given. */
  | "ARGUMENT_MISSING"
  /** A named argument, or a member of an argument, is not declared. */
  | "ARGUMENT_UNKNOWN"
  /** More arguments are given than there are parameters. */
  | "ARGUMENT_COUNT"
  /** A result of a method has no member of that name. */
  | "MEMBER_UNKNOWN";

/** To the thread, which answers each with a `checked` or `failed`. */
export interface CheckRequest {
  readonly code: string;
  readonly typescript: boolean;
  readonly declarations: string;
}

/** The answer to an order; `failed` where the compiler gave up. */
export type CheckReport =
  | { readonly kind: "checked"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: "failed" };

/** From the thread. Its first word is `ready`. */
export type FromThread = { readonly kind: "ready" } | CheckReport;
