import { basename } from "node:path";

import type { JsonSchema } from "../../../model/json.ts";
import type { MethodDefinition, MethodMetadata } from "../../../model/skill.ts";
import { withTypeTag } from "./jsdoc/doc-types.ts";
import type { Doc } from "./jsdoc/docs.ts";
import type { FileReader } from "./files.ts";
import { type DocFacts, readFacts } from "./jsdoc/metadata.ts";
import { docType, type Layout, readParameters } from "./parameters.ts";
import { ANY, type ScopedType, type TypeScope } from "./reader.ts";
import { getName, nodeAt, nodesAt, type SyntaxNode } from "./syntax.ts";
import { TypeReader, type Unreadable } from "./types.ts";

/** A method as declared in the source, with its argument layout. */
export interface ReadMethod {
  readonly definition: MethodDefinition;
  readonly layout: Layout;
  /** Reports of types and tags that could not be read. */
  readonly warnings: readonly string[];
}

/** A function with its context. */
export interface FunctionSite {
  readonly skill: string;
  readonly name: string;
  readonly fn: SyntaxNode;
  readonly doc: Doc;
  readonly scope: TypeScope;
  /** Metadata of the class or file, which applies to all of its methods. */
  readonly inherited: Partial<MethodMetadata>;
}

/** Reads one function; `undefined` if its doc comment hides it. */
export function readMethod(
  { skill, name, fn, doc: written, scope: outer, inherited }: FunctionSite,
  files: FileReader,
): ReadMethod | undefined {
  const doc = withTypeTag(written, nodesAt(fn, "params").map(parameterName), outer.source.file);
  const facts = readFacts(doc, inherited);
  if (facts.hidden) return undefined;
  const path = `${skill}.${name}`;
  const warnings = new Set(tagWarnings(facts, path, outer));
  const complain = (unreadable: Unreadable): void => void warnings.add(formatWarning(unreadable, path));
  const scope: TypeScope = { ...outer, typeArguments: bindTypeParameters(fn, outer) };
  const { input, layout } = readParameters(fn, doc, scope, new TypeReader("input", files, complain));
  const output = readResult(fn, doc, scope, new TypeReader("output", files, complain));
  const definition: MethodDefinition = {
    name,
    description: doc.description,
    input,
    ...(output !== undefined && { output }),
    ...(Object.keys(facts.metadata).length > 0 && { metadata: facts.metadata }),
    ...(facts.examples.length > 0 && { examples: facts.examples }),
  };
  return { definition, layout, warnings: [...warnings] };
}

function parameterName(parameter: SyntaxNode): string {
  return getName(parameter) ?? getName(nodeAt(parameter, "left")) ?? getName(nodeAt(parameter, "argument")) ?? "";
}

/** Binds the type parameters of a function or class: to the arguments, else to their constraints. */
export function bindTypeParameters(
  node: SyntaxNode,
  scope: TypeScope,
  typeArguments: readonly ScopedType[] = [],
): ReadonlyMap<string, ScopedType | undefined> {
  const parameters = nodesAt(nodeAt(node, "typeParameters"), "params");
  const bounds = parameters.map((parameter, index) => {
    const constraint = nodeAt(parameter, "constraint");
    return [String(parameter["name"]), typeArguments[index] ?? (constraint && { node: constraint, scope })] as const;
  });
  return new Map([...scope.typeArguments, ...bounds]);
}

/** Returns the schema of the method's result; `undefined` if no type is declared. */
function readResult(fn: SyntaxNode, { returns }: Doc, scope: TypeScope, reader: TypeReader): JsonSchema | undefined {
  reader.subject = "the result";
  const annotation = nodeAt(fn, "returnType");
  const documented = returns === undefined || returns.type === "" ? ANY : docType(returns, scope, reader);
  const schema = annotation === undefined ? documented : reader.type(annotation, scope);
  if (Object.keys(schema).length === 0) return undefined;
  return {
    ...schema,
    ...(returns !== undefined && returns.description !== "" && { description: returns.description }),
    ...(reader.defs.size > 0 && { $defs: Object.fromEntries(reader.defs) }),
  };
}

/** Reports tags that cannot be read, with the expected form. */
export function tagWarnings({ mistakes }: DocFacts, path: string, { source }: TypeScope): readonly string[] {
  const file = basename(source.file);
  return mistakes.map(({ line, message }) => `Cannot read a tag of "${path}" (${file}:${line}): ${message}`);
}

function formatWarning({ subject, file, line, text, why, fix }: Unreadable, path: string): string {
  const type = text === "" ? "the type" : `the type "${text}"`;
  return `Cannot read ${type} of ${subject} of "${path}" (${basename(file)}:${line}): ${why}, so any value is taken; ${fix}`;
}
