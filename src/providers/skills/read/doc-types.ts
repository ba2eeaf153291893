import { type DocTag, type DocValue, parseDoc } from "./docs.ts";
import { nodeAt, nodesAt, parsePiece, type Source, type SyntaxNode } from "./syntax.ts";

/** A type out of a comment. Its node stands in `source`, on the line where the comment has it. */
export interface DocType {
  readonly node: SyntaxNode;
  readonly source: Source;
}

/** The type between the braces of a JSDoc tag, read as TypeScript; `undefined` where it is none. */
export function typeFromDoc(file: string, type: string, line: number): DocType | undefined {
  const source = pieceOf(file, `type T = ${typeScriptOf(type)};`, line);
  const node = nodeAt(nodesAt(source?.program, "body")[0], "typeAnnotation");
  return source !== undefined && node !== undefined ? { node, source } : undefined;
}

/** The `@typedef`s of a file, each as the type alias that it stands for. */
export function typedefsIn(source: Source): readonly (DocType & { readonly name: string })[] {
  const comments = source.docs.filter(({ value }) => value.includes("@typedef"));
  return comments.flatMap(({ value, loc }) => {
    const doc = parseDoc(value, loc?.start.line ?? 1);
    return doc.tags.flatMap((tag) => typedefOf(source.file, tag, doc.properties));
  });
}

function typedefOf(file: string, { tag, type, text, line }: DocTag, properties: readonly DocValue[]) {
  const [name = ""] = text.split(/\s/, 1);
  if (tag !== "typedef" || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) return [];
  const meaning = properties.length > 0 ? `{ ${properties.map(fieldOf).join(" ")} }` : typeScriptOf(type);
  const source = pieceOf(file, `type ${name} = ${meaning};`, line);
  const [node] = nodesAt(source?.program, "body");
  return source !== undefined && node !== undefined ? [{ name, node, source }] : [];
}

function fieldOf({ name, optional, type, description, default: fallback }: DocValue): string {
  const comment = description.replaceAll("*/", "").replace(/\s+/g, " ");
  return `/** ${comment}${fallback === undefined ? "" : ` @default ${fallback}`} */ ${JSON.stringify(name)}${optional ? "?" : ""}: ${typeScriptOf(type)};`;
}

/** What JSDoc writes differently: `*`, `?string`, `!Foo`, `Array.<string>`, `Object<string, number>`, `...string`. */
function typeScriptOf(type: string): string {
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

function pieceOf(file: string, text: string, line: number): Source | undefined {
  try {
    return parsePiece(file, text, line);
  } catch {
    // Not a type. Whoever asks for it says so, with its place.
    return undefined;
  }
}
