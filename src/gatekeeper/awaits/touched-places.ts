import type { AnyNode, CallExpression } from "acorn";
import { byType, type ByType, literalName } from "../ast/walk.ts";
import { THEN } from "./promise-methods.ts";

/** Writes waits around expressions. */
export interface AwaitWriter {
  /** The value is used, and a promise would not notice. */
  touch(node: AnyNode | null | undefined): void;
  /** The value is only tested or compared. */
  test(node: AnyNode | null | undefined): void;
  /** The value is used, and a promise would notice: `await` is better where it is allowed. */
  visitUse(node: AnyNode | null | undefined): void;
  /** A variable is assigned. */
  visitAssignment(name: AnyNode, value: AnyNode): void;
  visitAwait(node: AnyNode, argument: AnyNode): void;
  visitCall(call: CallExpression): void;
  visitCreation(callee: AnyNode, args: readonly AnyNode[]): void;
  visitReturn(argument: AnyNode): void;
  visitStatement(statement: AnyNode, expression: AnyNode): void;
  /** The value of an expression is not used. */
  visitUnused(expression: AnyNode): void;
  mayAwait(node: AnyNode): boolean;
  refuse(node: AnyNode): void;
  parent(node: AnyNode): AnyNode | undefined;
}

/** The equality operators. */
export const EQUAL: ReadonlySet<string> = new Set(["===", "!==", "==", "!="]);

/** Writes the waits that one node needs. */
export function visitPlace(node: AnyNode, writer: AwaitWriter): void {
  byType(TOUCHES, node, node)?.(writer);
}

/** The positions that need the value of a promise, by parent node. */
const TOUCHES: ByType<(writer: AwaitWriter) => void> = {
  AssignmentExpression:
    ({ left, right, operator }) =>
    (writer) => {
      if (operator === "=") {
        if (hasRest(left)) writer.touch(right);
        writer.visitAssignment(left, right);
      } else if (!/^(?:\|\||&&|\?\?)=$/.test(operator)) writer.visitUse(right);
    },
  AwaitExpression: (node) => (writer) => writer.visitAwait(node, node.argument),
  BinaryExpression:
    ({ operator, left, right }) =>
    (writer) => {
      const isOfPromise = right.type === "Identifier" && right.name === "Promise";
      if (operator === "in") [left, right].forEach((each) => writer.touch(each));
      else if (EQUAL.has(operator)) [left, right].forEach((each) => writer.test(each));
      else if (operator === "instanceof") {
        if (!isOfPromise) writer.touch(left);
      } else [left, right].forEach((each) => writer.visitUse(each));
    },
  CallExpression: (call) => (writer) => writer.visitCall(call),
  ConditionalExpression:
    ({ test }) =>
    (writer) =>
      writer.test(test),
  DoWhileStatement:
    ({ test }) =>
    (writer) =>
      writer.test(test),
  ExpressionStatement: (node) => (writer) => writer.visitStatement(node, node.expression),
  ForInStatement:
    ({ right }) =>
    (writer) =>
      writer.touch(right),
  ForOfStatement: (node) => (writer) => {
    if (node.await && !writer.mayAwait(node)) writer.refuse(node);
    writer.visitUse(node.right);
  },
  ForStatement:
    ({ test, update }) =>
    (writer) => {
      writer.test(test);
      if (update != null) writer.visitUnused(update);
    },
  IfStatement:
    ({ test }) =>
    (writer) =>
      writer.test(test),
  LogicalExpression:
    ({ left }) =>
    (writer) =>
      writer.test(left),
  MemberExpression:
    ({ object, optional, property, computed }) =>
    (writer) => {
      if (THEN.has(literalName(property, computed) ?? "") || object.type === "Super") return;
      if (optional) writer.touch(object);
      else writer.visitUse(object);
      if (computed) writer.visitUse(property);
    },
  NewExpression:
    ({ callee, arguments: args }) =>
    (writer) =>
      writer.visitCreation(callee, args),
  ReturnStatement:
    ({ argument }) =>
    (writer) => {
      if (argument != null) writer.visitReturn(argument);
    },
  SequenceExpression:
    ({ expressions }) =>
    (writer) =>
      expressions.slice(0, -1).forEach((each) => writer.visitUnused(each)),
  SpreadElement: (node) => (writer) => {
    const isOfObject = writer.parent(node)?.type === "ObjectExpression";
    if (isOfObject) writer.touch(node.argument);
    else writer.visitUse(node.argument);
  },
  SwitchCase:
    ({ test }) =>
    (writer) =>
      writer.touch(test),
  SwitchStatement:
    ({ discriminant }) =>
    (writer) =>
      writer.touch(discriminant),
  TemplateLiteral:
    ({ expressions }) =>
    (writer) =>
      expressions.forEach((each) => writer.visitUse(each)),
  ThrowStatement:
    ({ argument }) =>
    (writer) =>
      writer.touch(argument),
  UnaryExpression: (node) => (writer) => {
    const { operator, argument } = node;
    const outer = writer.parent(node);
    const isCompared = outer?.type === "BinaryExpression" && EQUAL.has(outer.operator);
    if (operator === "!" || (operator === "typeof" && isCompared)) writer.test(argument);
    else if (operator === "typeof") writer.touch(argument);
    else if (operator === "delete" && argument.type === "MemberExpression") writer.touch(argument.object);
    else if (operator !== "void") writer.visitUse(argument);
  },
  VariableDeclarator:
    ({ id, init }) =>
    (writer) => {
      if (init == null) return;
      if (hasRest(id)) writer.touch(init);
      else if (id.type !== "Identifier") writer.visitUse(init);
      else writer.visitAssignment(id, init);
    },
  WhileStatement:
    ({ test }) =>
    (writer) =>
      writer.test(test),
};

/** True if a read uses the value of a variable; otherwise the promise may be meant. */
export function isValueUse(read: AnyNode, parent: AnyNode): boolean {
  return byType(VALUE_USES, parent, read) ?? false;
}

const VALUE_USES: ByType<boolean> = {
  BinaryExpression: ({ operator }) => !EQUAL.has(operator) && operator !== "instanceof",
  CallExpression: ({ callee }, read) =>
    callee === read ||
    (callee.type === "MemberExpression" &&
      callee.object.type === "Identifier" &&
      ["JSON", "Math", "Object", "Number", "Array"].includes(callee.object.name)) ||
    (callee.type === "Identifier" && ["String", "Number", "parseInt", "parseFloat"].includes(callee.name)),
  ConditionalExpression: ({ test }, read) => test === read,
  ForInStatement: () => true,
  ForOfStatement: () => true,
  IfStatement: () => true,
  MemberExpression: ({ object, property, computed }, read) =>
    object !== read || !THEN.has(literalName(property, computed) ?? ""),
  SpreadElement: () => true,
  SwitchStatement: () => true,
  TemplateLiteral: () => true,
  UnaryExpression: () => true,
  VariableDeclarator: ({ id }) => id.type !== "Identifier",
  WhileStatement: () => true,
};

function hasRest(pattern: AnyNode): boolean {
  return pattern.type === "ObjectPattern" && pattern.properties.some(({ type }) => type === "RestElement");
}
