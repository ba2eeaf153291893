import { basename } from "node:path";

import { Document, isMap, LineCounter, parseDocument } from "../shared/package/yaml.ts";

import { configError } from "./read-file.ts";
import { changeFile } from "./write-atomic.ts";

/**
 * Changes one value of settings.yaml, and keeps everything else: comments, order and unknown keys. `undefined` removes the
 * value. A missing file is created; a malformed one throws `CONFIG_INVALID`.
 */
export async function editSettings(file: string, path: readonly string[], value: unknown): Promise<void> {
  const label = basename(file);
  await changeFile(file, { label, isPrivate: false }, (text) => editText(text, label, { path, value }));
}

interface ChangedSetting {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Returns the changed text; `undefined` if nothing changes. */
function editText(text: string | undefined, label: string, { path, value }: ChangedSetting): string | undefined {
  const lineCounter = new LineCounter();
  const document = text === undefined ? new Document({}) : parseDocument(text, { prettyErrors: false, lineCounter });
  const [wrong] = document.errors;
  if (wrong !== undefined) {
    const { line, col } = lineCounter.linePos(wrong.pos[0]);
    throw configError(label, wrong.message, { line, column: col });
  }
  if (value === undefined && !document.hasIn(path)) return undefined;
  if (document.contents === null) document.contents = document.createNode({});
  if (value === undefined) take(document, path);
  else put(document, path, value);
  // Lines are not folded: what was one line stays one.
  const written = document.toString({ lineWidth: 0 });
  return written === "{}\n" ? "" : restoreForm(written, text);
}

/** Gives a text the byte order mark and the line ends that it had before. */
function restoreForm(written: string, before = ""): string {
  const mark = before.startsWith("\uFEFF") ? "\uFEFF" : "";
  return mark + (before.includes("\r\n") ? written.replaceAll(/\r?\n/g, "\r\n") : written);
}

function put(document: Document, path: readonly string[], value: unknown): void {
  for (let depth = 1; depth < path.length; depth++) {
    const above = path.slice(0, depth);
    const found = document.getIn(above);
    if (isMap(found)) continue;
    // `skills: ./folder` is the short form of `skills: { dir: ./folder }`.
    const isFolder = depth === 1 && path[0] === "skills" && typeof found === "string";
    document.setIn(above, document.createNode(isFolder ? { dir: found } : {}));
  }
  document.setIn(path, value);
}

/** Removes a value, and each map above it that becomes empty. */
function take(document: Document, path: readonly string[]): void {
  if (path.length === 0 || !document.hasIn(path)) return;
  document.deleteIn(path);
  const above = path.slice(0, -1);
  const rest = document.getIn(above);
  if (above.length > 0 && isMap(rest) && rest.items.length === 0) take(document, above);
}
