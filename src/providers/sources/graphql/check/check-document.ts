import {
  type ASTVisitFn,
  type ASTVisitor,
  type DocumentNode,
  type GraphQLSchema,
  KnownTypeNamesRule,
  type NamedTypeNode,
  type OperationDefinitionNode,
  specifiedRules,
  stripIgnoredCharacters,
  validate,
  type ValidationContext,
  visit,
} from "graphql";

import type { QueryProblem } from "../../../../model/skill.ts";
import { addProblems, type CheckedDocument, type QueryKind } from "./checked-document.ts";
import { checkVariables } from "./check-variables.ts";
import { explainErrors } from "./explain-error.ts";
import { findOperation } from "./find-operation.ts";
import { findPages } from "./find-pages.ts";
import { listUploads } from "./find-uploads.ts";
import { MAX_PROBLEMS } from "./limits.ts";
import { findExcess, getFragments } from "./measure-selection.ts";
import { createSelectionOutput } from "./output-schema.ts";
import { createProblem, parseText } from "./parse-text.ts";
import { getNameRange } from "./ranges.ts";
import { listInnerFields, listRootFields } from "./root-fields.ts";

/** A text that was checked without its variables. */
export interface CheckedText {
  readonly checked: CheckedDocument;
  /** Present for a text without problems. */
  readonly operation?: OperationDefinitionNode;
}

/** Checks a text and the values of its variables; `undefined` stands for values that are not known. */
export function checkDocument(
  schema: GraphQLSchema,
  kind: QueryKind,
  text: string,
  variables?: unknown,
): CheckedDocument {
  const { checked, operation } = checkText(schema, kind, text);
  if (operation === undefined || variables === undefined) return checked;
  return addProblems(checked, checkVariables(schema, operation, variables));
}

/** Checks a text against a schema: one operation of its kind, within the limits, by the rules of the specification. */
export function checkText(schema: GraphQLSchema, kind: QueryKind, text: string): CheckedText {
  const read = parseText(text);
  if ("problem" in read) return refuse(text, [read.problem]);
  const { document } = read;
  const found = findOperation(document, kind, schema);
  if ("problem" in found) return refuse(text, [found.problem]);
  const { operation } = found;
  const fragments = getFragments(document);
  const excess = findExcess(operation, fragments);
  if (excess !== undefined) return refuse(text, [excess]);
  const fields = listRootFields(schema, operation, fragments);
  const problems = findProblems(schema, document);
  if (problems.length > 0) return refuse(text, problems, fields);
  const inner = listInnerFields(schema, operation, fragments);
  if ("problem" in inner) return refuse(text, [inner.problem], fields);
  const pages = findPages(schema, operation, fragments);
  const uploads = listUploads(schema, operation);
  const checked: CheckedDocument = {
    problems: [],
    fields: [...fields, ...inner.fields],
    ...(inner.queryFields.length > 0 && { queryFields: inner.queryFields }),
    output: createSelectionOutput(schema, operation, fragments),
    ...(operation.name !== undefined && { operationName: operation.name.value }),
    text: stripIgnoredCharacters(text),
    ...(pages !== undefined && { pages }),
    ...(uploads.length > 0 && { uploads }),
  };
  return { checked, operation };
}

function refuse(text: string, problems: readonly QueryProblem[], fields: readonly string[] = []): CheckedText {
  return { checked: { problems, fields, text } };
}

interface NamedTypeVisitor {
  readonly NamedType: ASTVisitFn<NamedTypeNode>;
}

const RULES = specifiedRules.map((rule) => (rule === KnownTypeNamesRule ? checkTypeNames : rule));

/** Applies `KnownTypeNamesRule` to unknown types only: it lists all types of the schema, a quarter of the time of all rules. */
function checkTypeNames(context: ValidationContext): ASTVisitor {
  let visitUnknown: ASTVisitFn<NamedTypeNode> | undefined;
  return {
    NamedType(...visited) {
      const [{ name }] = visited;
      if (context.getSchema().getType(name.value) !== undefined) return;
      visitUnknown ??= (KnownTypeNamesRule(context) as NamedTypeVisitor).NamedType;
      visitUnknown(...visited);
    },
  };
}

const TOO_MANY_EQUAL = "The text repeats fields of one name too often to be checked; select each field once";

function findProblems(schema: GraphQLSchema, document: DocumentNode): readonly QueryProblem[] {
  const errors = validate(schema, document, RULES, { maxErrors: MAX_PROBLEMS });
  // The last error beyond the limit has no place: it says that there are more.
  const placed = errors.filter(({ nodes }) => nodes !== undefined && nodes.length > 0);
  // The rule that compares fields of one name has ended the check: later rules have not read the whole text.
  if (errors.length > 0 && placed.length === 0) return [createProblem(TOO_MANY_EQUAL, [0, 0])];
  return [...findSeveralAnswers(document), ...explainErrors(placed, document, schema)].slice(0, MAX_PROBLEMS);
}

/** Finds directives by which a server answers in several parts. */
function findSeveralAnswers(document: DocumentNode): readonly QueryProblem[] {
  const problems: QueryProblem[] = [];
  visit(document, {
    Directive(node) {
      if (node.name.value !== "defer" && node.name.value !== "stream") return;
      problems.push(createProblem(`A call has one answer; write it without @${node.name.value}`, getNameRange(node)));
    },
  });
  return problems;
}
