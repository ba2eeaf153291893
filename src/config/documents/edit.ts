import { getValueAt, isRecord } from "../../model/json.ts";
import { canonicalText } from "../../shared/digest.ts";
import { configError } from "../read-file.ts";
import { type Format, parseDocument, type Path } from "./index.ts";
import { removeInJson, setInJson } from "./edit-json.ts";
import { removeInToml, setInToml } from "./edit-toml.ts";
import { removeInYaml, setInYaml } from "./edit-yaml.ts";

/** One change of a document: what is at a path becomes a value, or goes. */
export type DocumentEdit =
  | { readonly kind: "set"; readonly path: Path; readonly value: unknown }
  | { readonly kind: "remove"; readonly path: Path };

export interface EditedDocument {
  readonly label: string;
  readonly format: Format;
}

/**
 * The text with changes made to it, and everything else left as it was written: comments, order, indentation, ends of
 * lines. A text that cannot be parsed is not touched; nor is one that would say anything else than it should.
 */
export function editText(text: string, edits: readonly DocumentEdit[], { label, format }: EditedDocument): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const bare = text.slice(mark.length);
  const before = bare.trim() === "" ? {} : parseDocument(bare, label, format).value;
  let expected: unknown = before;
  let after = bare;
  for (const edit of edits) {
    expected = applied(expected, edit);
    after = EDITORS[format](after, edit);
    // Without `[servers.last]` there is no table `servers`, unless it has a header of its own.
    const above = edit.path.slice(0, -1);
    if (format === "toml" && edit.kind === "remove" && !says(after, expected, { label, format }))
      expected = withoutEmpty(expected, above);
  }
  if (says(after, expected, { label, format })) return mark + after;
  throw configError(label, "the file cannot be edited without changing other parts of it; edit it by hand");
}

function says(text: string, expected: unknown, { label, format }: EditedDocument): boolean {
  try {
    const value = text.trim() === "" ? {} : parseDocument(text, label, format).value;
    return canonicalText(value) === canonicalText(expected);
  } catch {
    return false; // it cannot even be parsed any more
  }
}

const EDITORS: Readonly<Record<Format, (text: string, edit: DocumentEdit) => string>> = {
  json: (text, edit) => (edit.kind === "set" ? setInJson(text, edit.path, edit.value) : removeInJson(text, edit.path)),
  yaml: (text, edit) => (edit.kind === "set" ? setInYaml(text, edit.path, edit.value) : removeInYaml(text, edit.path)),
  toml: (text, edit) => (edit.kind === "set" ? setInToml(text, edit.path, edit.value) : removeInToml(text, edit.path)),
};

/** Returns the value without the tables at a path and above it that are empty. */
function withoutEmpty(value: unknown, path: Path): unknown {
  const found = getValueAt(value, path);
  if (path.length === 0 || !isRecord(found) || Object.keys(found).length > 0) return value;
  return withoutEmpty(applied(value, { kind: "remove", path }), path.slice(0, -1));
}

/** Returns the value after an edit. */
function applied(value: unknown, { path: [key, ...inside], ...edit }: DocumentEdit): unknown {
  if (key === undefined) return edit.kind === "set" ? edit.value : undefined;
  if (Array.isArray(value) && typeof key === "number") {
    if (inside.length === 0 && edit.kind === "remove") return value.toSpliced(key, 1);
    return value.with(key, applied(value[key], { ...edit, path: inside }));
  }
  const record = isRecord(value) ? value : {};
  if (edit.kind === "remove" && !Object.hasOwn(record, key)) return value;
  const member = applied(Object.hasOwn(record, key) ? record[key] : undefined, { ...edit, path: inside });
  const isGone = edit.kind === "remove" && inside.length === 0;
  const entries = Object.entries(record).filter(([name]) => name !== key || !isGone);
  return Object.fromEntries(isGone ? entries : [...entries, [key, member]]);
}
