import type { SourceFinding } from "../../shared/source-text.ts";
import type { Edit } from "../../model/program.ts";
import { blankOut, type Span } from "../blank-out.ts";
import { RULES } from "./rules.ts";
import { parseTypeScript } from "../limits/parser.ts";
import { blankAll, getChildren, type TsNode, type StripContext } from "./nodes.ts";

/** JavaScript without the types, or findings for TypeScript syntax that cannot be erased. */
export interface StrippedProgram {
  readonly text: string;
  readonly edits: readonly Edit[];
  readonly refused: readonly SourceFinding[];
}

/**
 * Blanks all types, so that the rest keeps its lines and columns. Throws `ParseFailure` for a text that is not TypeScript.
 * The result is parsed again as JavaScript, so this function does not decide which syntax is allowed. `tree` is that of the
 * text, where the caller has it.
 */
export function stripTypes(text: string, tree: unknown = parseTypeScript(text)): StrippedProgram {
  const context: StripContext = { text, spans: [], replacements: [], ends: new Set(), edits: [], refused: [] };
  const stack: TsNode[] = [tree as TsNode];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const rule = RULES.get(node.type) ?? (node.type.startsWith("TS") ? blankAll : undefined);
    if (rule?.(node, context) === "whole") continue;
    if (ENDED.has(node.type)) context.ends.add(node.end);
    for (const child of getChildren(node)) stack.push(child);
  }
  return { text: applyReplacements(context), edits: context.edits, refused: context.refused };
}

/** Statements and fields that the next line could continue once their end is blank. */
const ENDED: ReadonlySet<string> = new Set([
  "ExpressionStatement",
  "VariableDeclaration",
  "ReturnStatement",
  "ThrowStatement",
  "PropertyDefinition",
]);

/** Blanks the spans; writes a semicolon where the next line would otherwise continue a statement. */
function applyReplacements({ text, spans, replacements, ends }: StripContext): string {
  const ordered = [...spans].sort((a, b) => a.start - b.start || b.end - a.end);
  const apart: Span[] = [];
  for (const span of ordered) {
    const last = apart.at(-1);
    if (last === undefined || span.start >= last.end) apart.push(span);
  }
  const stops = apart
    .filter(({ end }) => ends.has(end) && /^[^\S\n]*\n\s*[([`/+\-*]/.test(text.slice(end, end + 400)))
    .map(({ start }) => ({ at: start, character: ";" }));
  const result = blankOut(text, apart);
  if (replacements.length + stops.length === 0) return result;
  const characters = result.split("");
  for (const { at, character } of [...replacements, ...stops]) characters[at] = character;
  return characters.join("");
}
