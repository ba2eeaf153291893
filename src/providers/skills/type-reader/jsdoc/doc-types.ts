import { type Doc, type DocTag, type DocValue, parseDoc } from "./docs.ts";
import { nodeAt, nodesAt, parsePiece, type Source, type SyntaxNode } from "../syntax.ts";

/** A type from a comment. Its node is in `source`, on its line in the file. */
export interface DocType {
  readonly node: SyntaxNode;
  readonly source: Source;
}

/** Parses the type between the braces of a JSDoc tag; `undefined` if it is not a type. */
export function typeFromDoc(file: string, type: string, line: number): DocType | undefined {
  const source = parsePieceOrUndefined(file, `type T = ${toTypeScript(type)};`, line);
  const node = nodeAt(nodesAt(source?.program, "body")[0], "typeAnnotation");
  return source !== undefined && node !== undefined ? { node, source } : undefined;
}

/** Reads the `@typedef`s of a file as type aliases. */
export function typedefsIn(source: Source): readonly (DocType & { readonly name: string })[] {
  const comments = source.docs.filter(({ value }) => value.includes("@typedef"));
  return comments.flatMap(({ value, loc }) => {
    const doc = parseDoc(value, loc?.start.line ?? 1);
    return doc.tags.flatMap((tag) => parseTypedef(source.file, tag, doc.properties));
  });
}

const IMPORT_TAG = /@import\s+([^"'@]{1,1000}?)\s+from\s+["']([^"'\n]{1,1000})["']/g;

/** Reads the `@import { Trip } from "./types.ts"` tags of a file as import statements. */
export function docImportsIn(source: Source): readonly SyntaxNode[] {
  const comments = source.docs.filter(({ value }) => value.includes("@import"));
  return comments.flatMap(({ value, loc }) =>
    [...value.matchAll(IMPORT_TAG)].flatMap(([, clause = "", from = ""]) => {
      const text = `import type ${clause.replace(/\n\s*\*/g, " ")} from ${JSON.stringify(from)};`;
      return nodesAt(parsePieceOrUndefined(source.file, text, loc?.start.line ?? 1)?.program, "body");
    }),
  );
}

/**
 * Expands `@type {(city: string, days?: number) => Promise<string>}` to one tag for each parameter. Existing tags take
 * precedence.
 */
export function withTypeTag(doc: Doc, parameters: readonly string[], file: string): Doc {
  const tag = doc.tags.find(({ tag, type }) => tag === "type" && type !== "");
  const found = tag && typeFromDoc(file, tag.type, tag.line);
  if (tag === undefined || found?.node.type !== "TSFunctionType") return doc;
  const getTypeText = (node: SyntaxNode | undefined): string => {
    const type = nodeAt(nodeAt(node, "typeAnnotation"), "typeAnnotation");
    return type === undefined ? "" : found.source.text.slice(type.start, type.end);
  };
  const createValue = (name: string, type: string, optional: boolean): DocValue => {
    return { name, type, optional, default: undefined, description: "", line: tag.line };
  };
  const types = nodesAt(found.node, "parameters");
  const params = parameters.slice(0, types.length).flatMap((name, index) => {
    const isDocumented = doc.params.some((param) => param.name === name);
    return isDocumented ? [] : [createValue(name, getTypeText(types[index]), types[index]?.["optional"] === true)];
  });
  const returns = doc.returns ?? createValue("", getTypeText(found.node), false);
  return { ...doc, params: [...doc.params, ...params], returns };
}

function parseTypedef(file: string, { tag, type, text, line }: DocTag, properties: readonly DocValue[]) {
  const [name = ""] = text.split(/\s/, 1);
  if (tag !== "typedef" || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return [];
  const meaning = properties.length > 0 ? `{ ${properties.map(formatField).join(" ")} }` : toTypeScript(type);
  const source = parsePieceOrUndefined(file, `type ${name} = ${meaning};`, line);
  const [node] = nodesAt(source?.program, "body");
  return source !== undefined && node !== undefined ? [{ name, node, source }] : [];
}

function formatField({ name, optional, type, description, default: fallback }: DocValue): string {
  const comment = description.replaceAll("*/", "").replace(/\s+/g, " ");
  return `/** ${comment}${fallback === undefined ? "" : ` @default ${fallback}`} */ ${JSON.stringify(name)}${optional ? "?" : ""}: ${toTypeScript(type)};`;
}

/** Converts JSDoc syntax to TypeScript: `*`, `?string`, `!Foo`, `Array.<string>`, `Object<string, number>`, `...string`. */
function toTypeScript(type: string): string {
  const text = type
    .trim()
    .replace(/^\.\.\.(.*)$/s, "($1)[]")
    .replace(/\b(Array|Promise|Object|Record)\.</g, "$1<")
    .replace(/\bObject</g, "Record<")
    .replace(/(^|[(<|,\s])\*(?=$|[)>|,\s])/g, "$1unknown")
    .replace(/(^|[(<|,\s])!/g, "$1")
    .replace(/(^|[(<|,\s])\?([\w.$]+(?:<[^<>]*>)?(?:\[\])*)/g, "$1($2 | null)");
  return text === "" ? "unknown" : text;
}

function parsePieceOrUndefined(file: string, text: string, line: number): Source | undefined {
  try {
    return parsePiece(file, text, line);
  } catch {
    // Not a type: the caller reports it with its position.
    return undefined;
  }
}
