import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { AgentDone, AgentEvent } from "../../../agent/index.ts";
import { isRecord } from "../../../model/json.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { escapeControls } from "../../../shared/visible-text.ts";
import { createEventPrinter, type EventPrinter } from "../agent/event-printer.ts";
import type { CliSession } from "../session.ts";
import { count, lines } from "../text/layout.ts";
import { valueText } from "../text/output.ts";
import { createMarkdownWriter, type MarkdownWriter } from "./markdown.ts";
import { wrapLines } from "./word-wrap.ts";

/** Lines of a result that are shown, and units of each. */
const MAX_RESULT_LINES = 6;
const MAX_LINE_UNITS = 200;

/** The width of a terminal that does not state it. */
const DEFAULT_COLUMNS = 80;

/** Prints events of a chat: answers as Markdown, programs with their plans and calls, and the start of each result. */
export function createChatPrinter({ write, paint }: Pick<CliSession, "write" | "paint">): EventPrinter {
  const markdown = createAnswerWriter({ write, paint });
  const saveImages = createImageSaver();
  const note = (text: string): void => {
    markdown.end();
    if (text !== "") write("err", `${process.stderr.isTTY ? wrapLines(text, getWidth(process.stderr)) : text}\n`);
  };
  const printer = createEventPrinter({
    paint,
    write: (stream, text) => (stream === "out" ? markdown.add(text) : note(text.replace(/\n$/, ""))),
  });
  return {
    print(event) {
      printer.print(event);
      if (event.type === "result" && !event.isError) note(paint.err.dim(formatResult(event, saveImages)));
      if (event.type === "done") note(paint.err.dim(formatEnd(event)));
    },
  };
}

const getWidth = ({ columns }: NodeJS.WriteStream): number => columns || DEFAULT_COLUMNS;

/** Outside of a terminal, answers are written as they arrive. */
function createAnswerWriter({ write, paint }: Pick<CliSession, "write" | "paint">): MarkdownWriter {
  const writeOut = (text: string): void => write("out", text);
  if (!process.stdout.isTTY) return { add: writeOut, end: () => {} };
  return createMarkdownWriter({
    write: writeOut,
    paint: paint.out,
    getWidth: () => getWidth(process.stdout),
  });
}

function formatResult(
  { step, text, outcome }: Extract<AgentEvent, { type: "result" }>,
  saveImages: SaveImages,
): string {
  if (outcome?.kind === "completed" && outcome.value === undefined) return ""; // its output was shown
  const valueAsText = outcome?.kind === "completed" ? valueText(saveImages(outcome.value)) : text;
  const rows = escapeControls(valueAsText).trimEnd().split("\n");
  const first = rows.slice(0, MAX_RESULT_LINES).map((row) => `  ${truncateText(row, MAX_LINE_UNITS)}`);
  const left = rows.length - first.length;
  return lines([...first, left === 0 ? "" : `  … ${count(left, "more line")}; /runs ${step} shows them`]);
}

function formatEnd({ reason, budget, calls, usage, durationMs }: AgentDone): string {
  const tokens = usage.inputTokens + usage.outputTokens;
  const facts = [count(calls, "call"), count(tokens, "token"), `${(durationMs / 1_000).toFixed(1)} s`].join(", ");
  switch (reason) {
    case "answer":
      return `(${facts})`;
    case "budget":
      return `(ended: the ${budget ?? "budget"} of the budget are used up; ${facts})`;
    case "waiting":
      return `(waits for an approval; ${facts})`;
    case "cancelled":
      return `(stopped; ${facts})`;
    case "error":
      return "";
  }
}

/** Images of one result that are saved. */
const MAX_IMAGES = 20;

/** Levels of a result in which images are found. */
const MAX_DEPTH = 16;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
};

/** Saves the images in a result, `{ type: "image", data, mimeType }`, and returns the result with their paths instead. */
export type SaveImages = (value: unknown) => unknown;

/** Creates the function that saves images in a new temporary folder, which only its owner can read. */
export function createImageSaver(): SaveImages {
  let folder: string | undefined;
  let saved = 0;
  return (value) => {
    let left = MAX_IMAGES;
    const replace = (part: unknown, depth: number): unknown => {
      if (depth > MAX_DEPTH || part instanceof Uint8Array) return part;
      if (Array.isArray(part)) return part.map((item) => replace(item, depth + 1));
      if (!isRecord(part) || Object.getPrototypeOf(part) !== Object.prototype) return part;
      const image = readImage(part);
      if (image === undefined || left === 0)
        return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, replace(item, depth + 1)]));
      left -= 1;
      saved += 1;
      folder ??= mkdtempSync(join(tmpdir(), "skillgate-images-"));
      const path = join(folder, `${saved}.${image.extension}`);
      writeFileSync(path, image.bytes, { mode: 0o600 });
      return `Image: ${path}`;
    };
    return replace(value, 0);
  };
}

function readImage({
  type,
  data,
  mimeType,
}: Readonly<Record<string, unknown>>): { readonly extension: string; readonly bytes: Uint8Array } | undefined {
  const extension = typeof mimeType === "string" ? EXTENSIONS[mimeType] : undefined;
  if (type !== "image" || extension === undefined) return undefined;
  if (data instanceof Uint8Array) return { extension, bytes: data };
  return typeof data === "string" ? { extension, bytes: Buffer.from(data, "base64") } : undefined;
}
