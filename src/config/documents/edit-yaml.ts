import type { Path } from "./index.ts";
import { detectFormatting } from "./formatting.ts";
import { readYaml } from "./yaml.ts";

export function setInYaml(text: string, path: Path, value: unknown): string {
  return edited(text, (document) => document.setIn(path, document.createNode(value)));
}

export function removeInYaml(text: string, path: Path): string {
  return edited(text, (document) => void document.deleteIn(path));
}

function edited(text: string, edit: (document: ReturnType<typeof readYaml>) => void): string {
  const { eol } = detectFormatting(text);
  const document = readYaml(text);
  if (document.contents === null) document.contents = document.createNode({}) as never; // it is empty
  const { indent, indentSeq } = detectIndentation(text);
  edit(document);
  const written = document.toString({
    lineWidth: 0,
    indent,
    indentSeq,
    flowCollectionPadding: !/[{[]\S/.test(text) || /\{ /.test(text),
  });
  return eol === "\n" ? written : written.replaceAll(/\r?\n/g, eol);
}

/** How far what is inside stands to the right, and whether items of a list do so, too. */
function detectIndentation(text: string): { readonly indent: number; readonly indentSeq: boolean } {
  const [, outer = "", inner = ""] =
    /^([ ]*)[^\s#-][^\n]*:[ ]*\r?\n(?:[ ]*(?:#[^\n]*)?\r?\n)*([ ]+)[^\s#-]/m.exec(text) ?? [];
  const [, parent, item] = /^([ ]*)[^\s#-][^\n]*:[ ]*\r?\n(?:[ ]*(?:#[^\n]*)?\r?\n)*([ ]*)- /m.exec(text) ?? [];
  return { indent: inner.length > outer.length ? inner.length - outer.length : 2, indentSeq: parent !== item };
}
