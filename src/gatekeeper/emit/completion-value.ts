import type { AnyNode, BlockStatement, ExpressionStatement, SwitchCase, VariableDeclaration } from "acorn";
import { printableName } from "../../shared/source-text.ts";
import { RESERVED_PREFIX } from "../rules/allowlist.ts";
import { getExpressionEnd } from "./entry-point.ts";
import type { CheckContext } from "../context.ts";

/** A statement whose value is the result of the program, unless a `return` runs first. */
export interface ResultStatement {
  readonly node: ExpressionStatement;
  readonly isInTry: boolean;
  /** True inside a loop: the last iteration gives the result. */
  readonly isInLoop: boolean;
}

/** The statements that give the result, and the loops around them. */
export interface CompletionValue {
  readonly statements: readonly ResultStatement[];
  readonly loops: readonly AnyNode[];
}

/** The variable that holds the value of the last iteration. */
export const LAST_ITERATION = `${RESERVED_PREFIX}edRound`;

/**
 * Finds the statements that end the program on each path: the last statement, and in it the last statement of every branch.
 * Rewrites an object at the end that JavaScript parses as a block.
 */
export function findResults(context: CheckContext): CompletionValue {
  const { tree, text } = context.program;
  const statements: ResultStatement[] = [];
  const loops: AnyNode[] = [];
  const last = findLastStatement(tree.body);
  if (last?.type === "BlockStatement" && isObject(last, text)) {
    context.report.wrap(last, "return (", ")");
    context.report.note("The braces at the end were read as an object");
  } else if (last !== undefined) collectResults(last, { isInTry: false, isInLoop: false }, { statements, loops });
  if (last?.type === "VariableDeclaration" && !/\b(?:return|print|console)\b/.test(text)) noteNoValue(last, context);
  return { statements, loops };
}

/** Writes `return` before the statements; inside `try` with `await`, so that the `try` catches a failure. */
export function writeReturns({ statements, loops }: CompletionValue, { program, report }: CheckContext): void {
  for (const { node, isInTry, isInLoop } of statements) {
    const before = isInLoop ? `${LAST_ITERATION} = (` : isInTry ? "return await (" : "return (";
    report.wrap({ start: node.start, end: getExpressionEnd(node, program.text) }, before, ")");
  }
  for (const loop of loops) report.wrap(loop, "{", `; return ${LAST_ITERATION};}`);
}

/** Adds a note for a program that ends with a declaration: models often mean the variable as the result. */
function noteNoValue({ declarations }: VariableDeclaration, { report }: CheckContext): void {
  const id = declarations.at(-1)?.id;
  if (id?.type === "Identifier") report.note(`The program has no result: end it with ${printableName(id.name)}`);
}

type LoopContext = Pick<ResultStatement, "isInTry" | "isInLoop">;

interface CollectedResults {
  readonly statements: ResultStatement[];
  readonly loops: AnyNode[];
}

function collectResults(statement: AnyNode, where: LoopContext, found: CollectedResults): void {
  const inside = (body: AnyNode | null | undefined, change: Partial<LoopContext> = {}): void => {
    if (body != null) collectResults(body, { ...where, ...change }, found);
  };
  if (statement.type === "ExpressionStatement") {
    if (statement.directive !== "use strict") found.statements.push({ node: statement, ...where });
  } else if (statement.type === "BlockStatement") inside(findLastStatement(statement.body));
  else if (statement.type === "LabeledStatement") {
    if (isLoop(statement.body)) collectLoop(statement, statement.body, where, found);
    else inside(statement.body);
  } else if (statement.type === "IfStatement") {
    inside(statement.consequent);
    inside(statement.alternate);
  } else if (statement.type === "TryStatement") {
    inside(findLastStatement(statement.block.body), { isInTry: true });
    inside(statement.handler?.body);
  } else if (statement.type === "SwitchStatement") {
    statement.cases.forEach((each, index) =>
      inside(findLastStatement(getCaseStatements(each, index === statement.cases.length - 1))),
    );
  } else if (isLoop(statement)) collectLoop(statement, statement, where, found);
}

/** Collects the results of a loop; `whole` includes its label. */
function collectLoop(whole: AnyNode, loop: Loop, where: LoopContext, found: CollectedResults): void {
  const before = found.statements.length;
  collectResults(loop.body, { ...where, isInLoop: true }, found);
  if (!where.isInLoop && found.statements.length > before) found.loops.push(whole);
}

type Loop = Extract<AnyNode, { readonly type: `${"For" | "ForIn" | "ForOf" | "While" | "DoWhile"}Statement` }>;

function isLoop(node: AnyNode): node is Loop {
  return /^(?:For|ForIn|ForOf|While|DoWhile)Statement$/.test(node.type);
}

/** The last statement that runs: function declarations are hoisted, so they do not count. */
function findLastStatement(statements: readonly AnyNode[]): AnyNode | undefined {
  return statements.findLast(({ type }) => type !== "FunctionDeclaration" && type !== "EmptyStatement");
}

/** The statements of a case that end the switch: those before its `break`, or all of the last case. */
function getCaseStatements({ consequent }: SwitchCase, isLast: boolean): readonly AnyNode[] {
  const [only] = consequent;
  const statements = consequent.length === 1 && only?.type === "BlockStatement" ? only.body : consequent;
  const last = statements.at(-1);
  if (last?.type === "BreakStatement" && last.label == null) return statements.slice(0, -1);
  return isLast ? statements : [];
}

/** True for `{ total }`, `{ a, b }` and `{ total: sum }`, which make sense only as objects. */
function isObject({ body: [only, ...rest] }: BlockStatement, text: string): boolean {
  if (only === undefined || rest.length > 0) return false;
  if (only.type === "ExpressionStatement") {
    const { expression } = only;
    const parts = expression.type === "SequenceExpression" ? expression.expressions : [expression];
    return parts.every(({ type }) => type === "Identifier") && /^[\w$\s,]+$/.test(text.slice(only.start, only.end));
  }
  if (only.type !== "LabeledStatement") return false;
  const { body } = only;
  if (body.type !== "ExpressionStatement" || text[body.end - 1] === ";") return false;
  return body.expression.type !== "AssignmentExpression" && body.expression.type !== "SequenceExpression";
}
