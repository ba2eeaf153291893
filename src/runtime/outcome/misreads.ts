import type { Misread } from "../../../sandbox/index.ts";
import type { Position } from "../../model/outcome.ts";
import { createSourceText, printableName } from "../../shared/source-text.ts";

/** Characters of the code before a member that are searched for the value it was read from. */
const MAX_RECEIVER = 80;

const AWAIT_TIMER = "write await new Promise((resolve) => setTimeout(resolve, ms)) before the calls instead";

/** Notes on members that a text or number does not have, on `JSON.parse` of values that are no texts, and on dropped timers. */
export function formatMisreads(
  misreads: readonly Misread[],
  source: string,
  findPosition: (stack: string) => Position,
): readonly string[] {
  return [...new Set(misreads.map((misread) => formatMisread(misread, source, findPosition(misread.stack))))];
}

function formatMisread({ of, name, size }: Misread, source: string, position: Position): string {
  const at = ` at line ${position.line}, column ${position.column + 1}`;
  switch (of) {
    case "object":
    case "array":
      return `JSON.parse${position.line === 0 ? "" : at}: the value is an ${of} already; leave JSON.parse out`;
    case "timer": {
      const timers = size === 1 ? "a timer whose function makes" : `${size} timers whose functions make`;
      return `The program ended before ${timers} calls, and dropped ${size === 1 ? "it" : "them"}; ${AWAIT_TIMER}`;
    }
    case "text":
    case "lines":
    case "json":
    case "number": {
      const offset = createSourceText(source).offset(position);
      // Destructuring has no position of its own in the engine.
      const isMember = position.line > 0 && /^\s*(?:\?\.|\.|\[)/.test(source.slice(offset, offset + MAX_RECEIVER));
      const receiver = isMember ? findReceiver(source, offset, name) : undefined;
      const member = receiver === undefined ? `.${printableName(name)}` : `${receiver}.${name}`;
      const isText = `is a text of ${size.toLocaleString("en-US")} character${size === 1 ? "" : "s"}`;
      const kind = of === "number" ? "is a number" : of === "json" ? `${isText} that may hold JSON` : isText;
      const fix =
        of === "json" ? `; read a member of JSON.parse(${receiver ?? "…"})` : of === "lines" ? fixLines(receiver) : "";
      return `\`${member}\`${isMember ? at : ""}: ${receiver ?? "the value"} ${kind}${fix}`;
    }
  }
}

function fixLines(receiver: string | undefined): string {
  return `; ${receiver === undefined ? "its member lines" : `${receiver}.lines`} is an array of its lines`;
}

/** The code before the dot, if it is a name or a chain of members, and the code after it is the name of the member. */
function findReceiver(source: string, offset: number, name: string): string | undefined {
  const after = /^\s*\??\.\s*([\w$]+)/.exec(source.slice(offset, offset + MAX_RECEIVER * 2));
  if (after?.[1] !== name) return undefined;
  const before = source.slice(Math.max(0, offset - MAX_RECEIVER), offset);
  return /(?<![\w$.\])])[A-Za-z_$][\w$]*(?:\??\.[\w$]+|\[\w+\])*$/.exec(before)?.[0];
}
