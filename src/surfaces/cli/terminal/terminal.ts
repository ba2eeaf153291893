import colors from "picocolors";

import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { CommandResult } from "../command.ts";
import { type Exit, EXIT_CODES } from "../exit-codes.ts";
import { escaped } from "../text/layout.ts";
import { jsonText } from "../text/output.ts";

/** Writes results to stdout and everything else to stderr. */
export interface Terminal {
  /** True with `--debug`: stack traces are shown. */
  readonly debug: boolean;
  /** Colours for stdout and for stderr; disabled for a stream that is not a terminal. */
  readonly paint: { readonly out: Paint; readonly err: Paint };
  /** Masks these secrets in every later result. */
  mask(secrets: KnownSecrets): void;
  show(answer: CommandResult): void;
  /** Writes text as it is, without a line end, with secrets masked. */
  readonly write: (this: void, stream: "out" | "err", text: string) => void;
  /** Ends the process after all output is written. */
  exit(exit: Exit): Promise<never>;
}

export type Paint = ReturnType<typeof colors.createColors>;

/** With `json`, writes one object to stdout and omits the text for people. */
export function openTerminal({ json, debug }: { readonly json: boolean; readonly debug: boolean }): Terminal {
  const { stdout, stderr } = process;
  const secretSets: KnownSecrets[] = [];
  let isAnswered = false;
  for (const stream of [stdout, stderr]) stream.on("error", onWriteError);
  return {
    debug,
    paint: { out: paintFor(stdout), err: paintFor(stderr) },
    mask: (secrets) => void secretSets.push(secrets),
    show(answer) {
      const masked = secretSets.reduce((clean, secrets) => secrets.maskValue(clean), answer);
      const { json: object, text, remarks = "", asides = "" } = masked;
      // A failure after the result goes to stderr only: --json prints exactly one object.
      if (json && !isAnswered && object !== undefined) write(stdout, jsonText(object, stdout.isTTY ? 2 : 0));
      if (!json) write(stdout, text);
      if (!json || isAnswered) write(stderr, remarks);
      isAnswered = true;
      write(stderr, asides);
    },
    write(stream, text) {
      const masked = secretSets.reduce((clean, secrets) => secrets.maskText(clean), text);
      const target = stream === "out" ? stdout : stderr;
      target.write(target.isTTY ? harmless(masked) : masked);
    },
    async exit(exit) {
      await Promise.all([flushed(stdout), flushed(stderr)]);
      process.exit(EXIT_CODES[exit].code);
    },
  };
}

/** Ignores a reader that stops, such as `head`, and a closed terminal; an error such as a full disk ends the process. */
function onWriteError({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE" || code === "EIO") return;
  process.stderr.write(`Cannot write the output: ${message}\n`);
  process.exit(EXIT_CODES.failed.code);
}

/** Node knows whether the terminal has colours, and respects `NO_COLOR`. */
function paintFor(stream: NodeJS.WriteStream): Paint {
  return colors.createColors(stream.isTTY ? stream.hasColors() : false);
}

function write(stream: NodeJS.WriteStream, text: string): void {
  if (text === "") return;
  const line = text.endsWith("\n") ? text : `${text}\n`;
  stream.write(stream.isTTY ? harmless(line) : line);
}

/** Escapes control characters: output must not move the cursor, rename the window or reverse the text. */
function harmless(text: string): string {
  const commands = /\r\n|(?![\n\t])\p{Cc}(?:\[\d{1,2}m)?|\p{Bidi_Control}/gu;
  return text.replace(commands, (found) => (HARMLESS.has(found) ? found : escaped(found)));
}

/** The colour codes that this command writes, and line ends. */
const HARMLESS: ReadonlySet<string> = new Set([
  "\r\n",
  ...[1, 2, 22, 31, 32, 33, 36, 39].map((code) => `\u001B[${code}m`),
]);

function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}
