import type { Approve } from "../../../model/approval.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { RunObserver } from "../../../model/run-observer.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CliSession } from "../session.ts";
import { escaped, milliseconds } from "../text/layout.ts";
import { logLine } from "../text/output.ts";

export interface ProgramOptions {
  readonly signal: AbortSignal;
  readonly timeout?: number;
  readonly approve?: Approve;
  /** Shows calls as they run. */
  readonly showCalls: boolean;
}

/** Runs a program, and shows its output as it is printed and then the text that a model reads. */
export async function runProgram(
  code: string,
  runtime: Runtime,
  session: CliSession,
  { signal, timeout, approve, showCalls }: ProgramOptions,
): Promise<Outcome> {
  let printed = "";
  const outcome = await runtime.run(code, {
    signal,
    ...(timeout !== undefined && { limits: { wallMs: timeout } }),
    ...(approve !== undefined && { approve }),
    observer: {
      ...(showCalls && createCallPrinter(session)),
      onOutput(text) {
        printed += text;
        session.write("out", text);
      },
    },
  });
  const rest = removeStart(outcome.text, printed);
  const isOnNewLine = printed === "" || printed.endsWith("\n");
  if (rest !== "") session.write("out", `${isOnNewLine ? "" : "\n"}${rest}\n`);
  else if (!isOnNewLine) session.write("out", "\n");
  return outcome;
}

/** Removes what was printed already from the beginning of a text. */
function removeStart(text: string, printed: string): string {
  const start = printed.trimEnd();
  return start !== "" && text.startsWith(start) ? text.slice(start.length).replace(/^\s*\n/, "") : text;
}

function createCallPrinter({ write, paint: { err: paint } }: CliSession): RunObserver {
  const note = (text: string): void => write("err", `  ${text}\n`);
  return {
    onCallStart: (path) => note(`${paint.cyan(path)} …`),
    onCallEnd({ skill, method, outcome, durationMs }) {
      const mark = outcome === "ok" ? paint.green(outcome) : paint.red(outcome);
      note(`${paint.cyan(`${skill}.${method}`)} ${mark} ${paint.dim(milliseconds(durationMs))}`);
    },
    progress(path, done, total, text = "") {
      const whole = total === undefined ? "" : ` of ${total}`;
      note(paint.dim(`${path} ${done}${whole} ${escaped(text)}`.trimEnd()));
    },
    log: (path, level, text) => write("err", `  ${logLine({ level, text, path }, paint)}`),
  };
}
