import { CAPABILITIES } from "../../../../authoring/metadata.ts";
import type { MethodExample, MethodMetadata } from "../../../../model/skill.ts";
import type { Doc, DocTag } from "./docs.ts";

type Metadata = Partial<MethodMetadata>;

/** The metadata, examples and mistakes in the tags of a doc comment. */
export interface DocFacts {
  readonly metadata: Metadata;
  readonly examples: readonly MethodExample[];
  /** True if models must not see it. */
  readonly hidden: boolean;
  /** Tags that cannot be read, each with its line. */
  readonly mistakes: readonly { readonly line: number; readonly message: string }[];
}

/** Reads the tags of a method; they override those of its class or file. */
export function readFacts(doc: Doc, inherited: Metadata = {}): DocFacts {
  const mistakes: { line: number; message: string }[] = [];
  let metadata: Metadata = inherited;
  for (const tag of doc.tags) {
    const read = TAGS.get(tag.tag);
    if (read === undefined) continue;
    const found = read.read(tag.text, metadata);
    if (found === undefined) mistakes.push({ line: tag.line, message: `@${tag.tag} expects ${read.expected}` });
    else metadata = { ...metadata, ...found };
  }
  return {
    metadata,
    examples: doc.tags.flatMap(parseExample),
    hidden: doc.tags.some(({ tag }) => HIDING.has(tag)),
    mistakes,
  };
}

const HIDING: ReadonlySet<string> = new Set(["hidden", "internal", "private", "ignore"]);

interface TagReader {
  readonly expected: string;
  /** Returns `undefined` for an invalid text. `soFar` is the metadata of earlier tags. */
  readonly read: (text: string, soFar: Metadata) => Metadata | undefined;
}

const TAGS: ReadonlyMap<string, TagReader> = new Map<string, TagReader>([
  ["category", words("a word", (category) => ({ category }))],
  ["author", words("a name", (author) => ({ author }))],
  [
    "version",
    {
      expected: "a version such as 1.2.0",
      read: (text) => (/^\d+\.\d+\.\d+\S*$/.test(text) ? { version: text } : undefined),
    },
  ],
  [
    "deprecated",
    { expected: "a sentence", read: (text) => ({ deprecated: text === "" ? "No replacement is named" : text }) },
  ],
  ["readonly", flag((readOnly) => ({ readOnly }))],
  ["destructive", flag((destructive) => ({ destructive }))],
  ["idempotent", flag((idempotent) => ({ idempotent }))],
  ["openworld", flag((openWorld) => ({ openWorld }))],
  ["approval", choice(["none", "user", "admin"], (approval) => ({ approval }))],
  ["task", choice(["optional", "required", "forbidden"], (taskSupport) => ({ taskSupport }))],
  ["sensitivity", choice(["low", "medium", "high"], (sensitivity) => ({ sensitivity }))],
  ["timeout", duration((ms) => (ms > 0 ? { timeoutMs: ms } : undefined))],
  ["cooldown", duration((ms) => ({ cooldownSeconds: ms / 1000 }))],
  ["cache", duration((ms) => ({ cacheTtlSeconds: ms / 1000 }))],
  [
    "ratelimit",
    {
      expected: "a number of calls per minute",
      read: (text) => (/^\d+$/.test(text) ? { rateLimit: Number(text) } : undefined),
    },
  ],
  [
    "scope",
    words("a scope", (text, soFar) => ({ requiredScopes: [...(soFar.requiredScopes ?? []), ...listed(text)] })),
  ],
  ["tag", words("a word", (text, soFar) => ({ tags: [...(soFar.tags ?? []), ...listed(text)] }))],
  ["capability", capability()],
]);

function words(expected: string, read: (text: string, soFar: Metadata) => Metadata): TagReader {
  return { expected, read: (text, soFar) => (text === "" ? undefined : read(text, soFar)) };
}

function flag(read: (on: boolean) => Metadata): TagReader {
  return { expected: "nothing behind it", read: (text) => read(text !== "false") };
}

function choice<const Value extends string>(values: readonly Value[], read: (value: Value) => Metadata): TagReader {
  return {
    expected: values.join(", "),
    read: (text) => {
      const value = values.find((each) => each === text.toLowerCase());
      return value === undefined ? undefined : read(value);
    },
  };
}

const UNITS_MS: ReadonlyMap<string, number> = new Map([
  ["", 1],
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["min", 60_000],
  ["h", 3_600_000],
]);

/** Reads `500`, `500ms`, `5s`, `2m`, `1h`; a bare number is milliseconds. */
function duration(read: (ms: number) => Metadata | undefined): TagReader {
  return {
    expected: "a duration such as 500ms, 5s or 2m",
    read: (text) => {
      const [, amount = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/.exec(text.toLowerCase()) ?? [];
      const unitMs = UNITS_MS.get(unit);
      return amount === "" || unitMs === undefined ? undefined : read(Number(amount) * unitMs);
    },
  };
}

function capability(): TagReader {
  return {
    expected: CAPABILITIES.join(", "),
    read: (text, soFar) => {
      const found = CAPABILITIES.filter((each) => listed(text).includes(each));
      return found.length === 0 ? undefined : { capabilities: [...(soFar.capabilities ?? []), ...found] };
    },
  };
}

function listed(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

/** Parses `@example <caption>Request</caption> code`; the code may be in a fence. */
function parseExample({ tag, text }: DocTag): readonly MethodExample[] {
  if (tag !== "example") return [];
  const { request = "", rest = "" } =
    /^(?:<caption>(?<request>[^<]*)<\/caption>)?(?<rest>[^]*)$/.exec(text)?.groups ?? {};
  const code = rest.replace(/^\s*```\w*\n?|```\s*$/g, "").trim();
  const example = { ...(request !== "" && { request: request.trim() }), ...(code !== "" && { code }) };
  return Object.keys(example).length > 0 ? [example] : [];
}
