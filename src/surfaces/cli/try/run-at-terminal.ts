import { completeCode, type CodeCompletion } from "../../../registry/index.ts";
import type { Exit } from "../exit-codes.ts";
import type { CliSession } from "../session.ts";
import { createTerminalApprove } from "../terminal/approve-at-terminal.ts";
import { type LineEditor, openLineEditor } from "../terminal/line-editor.ts";
import { openLineHistory } from "../terminal/line-history.ts";
import { count } from "../text/layout.ts";
import { COMMAND_NAMES } from "./dot-commands.ts";
import { createInputReader, type TryInput } from "./input-reader.ts";
import type { InputRunner } from "./repl.ts";

const PROMPT = "> ";
const CONTINUATION = "… ";

/** Reads programs and commands at the terminal until the user leaves. */
export async function runAtTerminal(session: CliSession, runner: InputRunner): Promise<Exit> {
  const { signal, write, paint } = session;
  const history = await openLineHistory(session, "try-history", (text) => runner.runtime.secrets.maskText(text));
  const reader = createInputReader(COMMAND_NAMES);
  const complete = (line: string): CodeCompletion => completeLine(line, reader.text, runner);
  using editor = openLineEditor({
    complete,
    history: history.lines,
    continuation: CONTINUATION,
    output: process.stderr, // stdout has only results
    signal,
  });
  const { skills, methods } = runner.runtime.catalog;
  write(
    "err",
    `${paint.err.dim(`${count(skills.length, "skill")}, ${count(methods.length, "method")}. Type .help for help`)}\n`,
  );
  let isLeaving = false;
  try {
    for (;;) {
      const event = await editor.next(reader.text === "" ? PROMPT : CONTINUATION);
      signal.throwIfAborted();
      if (event.kind === "end") return "ok";
      if (event.kind === "interrupt") {
        const isEmpty = event.text === "" && reader.text === "";
        if (isEmpty && isLeaving) return "interrupted";
        if (isEmpty) write("err", "Press Ctrl-C again to leave, or type .exit\n");
        isLeaving = isEmpty;
        reader.clear();
        continue;
      }
      isLeaving = false;
      const lines = event.lines.flatMap((line) => line.split("\n"));
      history.add(lines);
      const inputs = [...lines.flatMap((line) => reader.add(line)), ...reader.takeComplete()];
      for (const input of inputs) if (!(await runInput(input, editor, session, runner))) return "ok";
    }
  } finally {
    await history.flush();
  }
}

/** Runs an input. The first Ctrl-C stops it, the second ends the command. */
async function runInput(
  input: TryInput,
  editor: LineEditor,
  session: CliSession,
  runner: InputRunner,
): Promise<boolean> {
  const stop = new AbortController();
  const signal = AbortSignal.any([session.signal, stop.signal]);
  session.intercept(() => {
    const isFirst = !stop.signal.aborted;
    stop.abort("Ctrl-C");
    return isFirst;
  });
  const approve = createTerminalApprove((question, closed) => editor.ask(question, closed), signal);
  const isRunning = await runner.run(input, { signal, approve, showCalls: true });
  session.intercept(() => false);
  session.signal.throwIfAborted();
  return isRunning;
}

/** Completes a command, its argument, or the program that ends with the line. */
function completeLine(line: string, before: string, { runtime: { catalog } }: InputRunner): CodeCompletion {
  if (before !== "") return completeCode(`${before.replace(/^\s*\.plan\s/, "")}\n${line}`, catalog);
  const [, name, word] = /^\s*\.(\w*)(?:\s+(.*))?$/.exec(line) ?? [];
  if (name === undefined) return completeCode(line, catalog);
  if (word === undefined) {
    const start = `.${name}`;
    return [COMMAND_NAMES.map((each) => `.${each} `).filter((each) => each.startsWith(start)), start];
  }
  if (name === "plan") return completeCode(word, catalog);
  const paths = name === "describe" ? catalog.methods.map(({ path }) => path) : [];
  const names = name === "describe" || name === "types" ? [...catalog.skills.map((skill) => skill.name), ...paths] : [];
  return [names.filter((each) => each.startsWith(word)), word];
}
