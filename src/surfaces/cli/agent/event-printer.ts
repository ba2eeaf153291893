import type { AgentEvent } from "../../../agent/index.ts";
import type { CliSession } from "../session.ts";
import { escaped, lines, milliseconds } from "../text/layout.ts";

/** Prints events as text: the answer on stdout as it arrives, programs and their calls on stderr. */
export interface EventPrinter {
  print(event: AgentEvent): void;
}

export function createEventPrinter({
  write,
  paint: { err: paint },
}: Pick<CliSession, "write" | "paint">): EventPrinter {
  const answer = createAnswerWriter((text) => write("out", text));
  const note = (text: string): void => {
    answer.endLine();
    write("err", `${text}\n`);
  };
  return {
    print(event) {
      switch (event.type) {
        case "turn":
          return answer.release();
        case "delta":
          return event.channel === "text" ? answer.add(event.text) : undefined;
        case "code":
          answer.dropProgram();
          return note(lines([paint.bold(`Program ${event.step}`), numbered(event.code, paint.dim)]));
        case "plan":
          return event.calls.length === 0 ? undefined : note(formatPlan(event.calls, paint.dim));
        case "call_started":
          return note(`  ${paint.cyan(event.path)} …`);
        case "call_progress": {
          const total = event.total === undefined ? "" : ` of ${event.total}`;
          return note(paint.dim(`  ${event.path} ${event.done}${total} ${escaped(event.text ?? "")}`.trimEnd()));
        }
        case "call_ended": {
          const mark = event.outcome === "ok" ? paint.green("ok") : paint.red(event.outcome);
          return note(`  ${paint.cyan(event.path)} ${mark} ${paint.dim(milliseconds(event.durationMs))}`);
        }
        case "output":
          return note(paint.dim(indent(event.text.trimEnd())));
        case "result":
          return event.isError ? note(paint.red(indent(event.text))) : undefined;
        case "notice":
          if (event.code === "fence") answer.dropProgram(); // the model sends it again
          return event.code === "cut" ? undefined : note(paint.dim(event.text));
        case "error":
          return note(lines([paint.red(event.error.message), paint.dim(event.error.fix)]));
        case "done":
          answer.release();
          return answer.endLine();
        case "waiting":
        case "message":
        case "usage":
      }
    },
  };
}

/** Writes the text of replies, and holds back from a fence on: it may begin a program, which is shown elsewhere. */
function createAnswerWriter(write: (text: string) => void): {
  add(text: string): void;
  /** Writes what was held back. */
  release(): void;
  /** Forgets what was held back: it was a program. */
  dropProgram(): void;
  endLine(): void;
} {
  let pending = "";
  let isAtLineStart = true;
  const put = (text: string): void => {
    if (text === "") return;
    write(text);
    isAtLineStart = text.endsWith("\n");
  };
  return {
    add(text) {
      pending += text;
      const end = FENCE.exec(pending)?.index ?? pending.length;
      put(pending.slice(0, end));
      pending = pending.slice(end);
    },
    release() {
      put(pending);
      pending = "";
    },
    dropProgram: () => (pending = ""),
    endLine: () => (isAtLineStart ? undefined : put("\n")),
  };
}

/** A fence, or the beginning of a line that may become one. */
const FENCE = /(?:^|(?<=\n))[ \t]*(?:```|~~~|`{1,2}$|~{1,2}$)/;

function formatPlan(calls: Extract<AgentEvent, { type: "plan" }>["calls"], dim: (text: string) => string): string {
  const rows = calls.map(({ line, text, inLoop, conditional, parallel }) => {
    const facts = [inLoop && "in a loop", conditional && "conditional", parallel && "in parallel"].filter(Boolean);
    return `  line ${line}  ${text}${facts.length === 0 ? "" : dim(`  ${facts.join(", ")}`)}`;
  });
  return lines(["Plan", ...rows]);
}

function numbered(code: string, dim: (text: string) => string): string {
  const rows = code.trimEnd().split("\n");
  const { length } = String(rows.length);
  return rows.map((row, index) => `  ${dim(String(index + 1).padStart(length))}  ${escapedCode(row)}`).join("\n");
}

/** Tabs stay as they are. */
const escapedCode = (row: string): string => row.split("\t").map(escaped).join("\t");

function indent(text: string): string {
  return text
    .split("\n")
    .map((row) => `  ${escapedCode(row)}`)
    .join("\n");
}
