import { hash } from "node:crypto";

import type { Discovery } from "./discovery.ts";
import { type SourceFinding, type SourceText, createSourceText, createViolation } from "../shared/source-text.ts";
import type { Violation } from "../model/outcome.ts";
import { setBounded } from "../shared/lru.ts";
import type { JsonSchema } from "../model/json.ts";
import { hasUnknown, type Plan } from "../model/plan.ts";
import type { Program } from "../model/program.ts";
import { inferSchema } from "../observed/index.ts";
import { bareDeclarations, type TextOutput } from "../registry/index.ts";
import { INPUT_PATH } from "../runs/index.ts";
import type { RunRequest } from "./execution/run-services.ts";
import { hasStrangeMember } from "./outcome/read-members.ts";
import type { Diagnostic, Typecheck } from "../typecheck/index.ts";

/** The compiler's findings on a program that the gatekeeper has accepted. */
export interface TypeReport {
  /** Certain mistakes. */
  readonly violations: readonly Violation[];
  /** Possible mistakes, including those that assume that results stay as they have been so far. */
  readonly notes: readonly string[];
}

export type TypecheckProgram = (
  program: CheckedProgram,
  request: Pick<RunRequest, "caller" | "catalog" | "input" | "inputSchema">,
  /** Where types can find something: waits for the compiler to load, and for the check at most this many milliseconds. */
  deadlineMs?: number,
) => Promise<TypeReport>;

/** A program that may run: as the model wrote it, its JavaScript, and what the gatekeeper found in it. */
export interface CheckedProgram {
  readonly source: string;
  readonly text: string;
  readonly plan: Plan;
  readonly program: Program;
  /** The types of the results of its literal texts. */
  readonly outputs?: readonly TextOutput[];
}

const EMPTY_REPORT: TypeReport = { violations: [], notes: [] };

/** Used when TypeScript is not installed: reports nothing. */
export const SKIP_TYPECHECK: TypecheckProgram = async () => EMPTY_REPORT;

/** The compiler takes a second of computing to load, which a process that runs a single program does not have to pay. */
const LOAD_AFTER_MS = 1_000;

/** The maximum number of checks whose findings are kept. Most programs have none. */
const MAX_CHECKS = 2_000;

/** Guesses that are reported for one program. */
const MAX_GUESSES = 3;

/**
 * Lets the compiler look at programs in which it may find something. Where it is not installed, still loading or late, they
 * run without. It is loaded a while after the first program in which it is likely to find something: one whose arguments are
 * computed, or that names a member which the known results do not have. What it says only because of types
 * that were observed, or of examples, is never more than a note.
 */
export function createTypeCheck(typecheck: Typecheck, discovery: Discovery): TypecheckProgram {
  let loading: NodeJS.Timeout | undefined;
  /** The findings by the digest of a program and its types. */
  const cache = new Map<string, readonly Diagnostic[]>();

  async function findDiagnostics(code: string, types: string, deadlineMs?: number): Promise<readonly Diagnostic[]> {
    const key = hash("sha256", `${code.length} ${code}${types}`, "base64");
    const before = cache.get(key);
    if (before !== undefined) return before;
    const result = await typecheck.check({
      code,
      declarations: types,
      ...(deadlineMs !== undefined && { deadlineMs }),
    });
    if (result.kind !== "checked") return [];
    setBounded(cache, [key, result.diagnostics], MAX_CHECKS);
    return result.diagnostics;
  }

  return async ({ source, text, plan, program, outputs = [] }, request, deadlineMs) => {
    const { caller, catalog } = request;
    const methods = [...program.paths].flatMap((path) => catalog.method(path) ?? []);
    const input = program.paths.includes(INPUT_PATH) ? findInputType(request) : undefined;
    if (methods.length === 0 && input === undefined) return EMPTY_REPORT;
    const findObserved = discovery.observedFor(caller);
    const declared = [
      ...methods.flatMap(({ output }) => (output === undefined ? [] : [output])),
      ...outputs.map(({ output }) => output),
      ...(input?.isDeclared === true ? [input.schema] : []),
    ];
    const observed = [
      ...methods.flatMap((method) => findObserved(method) ?? []).map(({ schema }) => schema),
      ...(input?.isDeclared === false ? [input.schema] : []),
    ];
    const hasNew = hasUnknownArguments(plan) || hasStrangeMember(text, [...declared, ...observed]);
    if (!hasNew && declared.length === 0) return EMPTY_REPORT;
    if (deadlineMs !== undefined) await typecheck.warmUp();
    if (!typecheck.isWarm) {
      if (!hasNew) return EMPTY_REPORT;
      loading ??= setTimeout(() => {
        loading = undefined;
        typecheck.load();
      }, LOAD_AFTER_MS).unref();
      return EMPTY_REPORT;
    }
    const all = await findDiagnostics(
      text,
      bareDeclarations(methods, findObserved, { texts: outputs, input: input?.schema }),
      deadlineMs,
    );
    const certain = { texts: outputs, input: input?.isDeclared === true ? input.schema : undefined };
    const sure =
      all.length === 0 ? all : await findDiagnostics(text, bareDeclarations(methods, undefined, certain), deadlineMs);
    return createReport(
      sure,
      all.filter((each) => !sure.some((one) => isSame(one, each))),
      createSourceText(source),
    );
  };
}

/** UTF-16 units of the JSON of an input whose type is inferred: to read a longer one would take a turn of the event loop. */
const MAX_INFERRED_UNITS = 128 << 10;

/** The type of the input of a run: that of its schema, else that of the value, unless it is long. */
function findInputType({
  input,
  inputSchema,
}: Pick<RunRequest, "input" | "inputSchema">):
  | { readonly schema: JsonSchema; readonly isDeclared: boolean }
  | undefined {
  if (inputSchema !== undefined) return { schema: inputSchema, isDeclared: true };
  if (input === undefined || input.json.length > MAX_INFERRED_UNITS) return undefined;
  return { schema: inferSchema(input.value), isDeclared: false };
}

function isSame(one: Diagnostic, other: Diagnostic): boolean {
  return one.start === other.start && one.code === other.code;
}

/** False where the gatekeeper has seen all arguments. */
function hasUnknownArguments(plan: Plan): boolean {
  return plan.some(({ literalArguments }) => literalArguments === undefined || literalArguments.some(hasUnknown));
}

function createReport(sure: readonly Diagnostic[], observed: readonly Diagnostic[], source: SourceText): TypeReport {
  const toViolation = (diagnostic: Diagnostic): Violation => createViolation(source, toFinding(diagnostic));
  const guesses = sure.filter((diagnostic) => !diagnostic.certain);
  const notes = [
    ...guesses.map(({ start, message }) => `Line ${source.position(start).line} may be wrong: ${message}`),
    ...observed.filter((diagnostic) => diagnostic.certain).map((diagnostic) => formatNote(toViolation(diagnostic))),
  ];
  return {
    violations: sure.filter((diagnostic) => diagnostic.certain).map(toViolation),
    notes: notes.slice(0, MAX_GUESSES),
  };
}

function formatNote({ message, line, column }: Violation): string {
  return `Line ${line}, column ${column + 1}, by results and examples so far: ${message}`;
}

function toFinding({ code, message, start, end, suggestions }: Diagnostic): SourceFinding {
  return {
    code: code === "MEMBER_UNKNOWN" ? "MEMBER_UNKNOWN" : "ARGUMENTS_INVALID",
    values: message,
    start,
    end,
    suggestions,
    ...(suggestions.length > 0 && { fix: `Write ${suggestions.join(" or ")}` }),
  };
}
