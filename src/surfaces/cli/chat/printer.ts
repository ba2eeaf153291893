import type { AgentDone, AgentEvent } from "../../../agent/index.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { escapeControls } from "../../../shared/visible-text.ts";
import { createEventPrinter, type EventPrinter } from "../agent/event-printer.ts";
import type { CliSession } from "../session.ts";
import { count, lines } from "../text/layout.ts";
import { valueText } from "../text/output.ts";
import { createImageSaver, type SaveImages } from "./images.ts";
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
