/** Lines of a stack trace, and lines of source text above a mark. */
const STACK_LINE = /^\s+at /;
const MARK_LINE = /^\s*[~^]+\s*$/;

/**
 * Finds the line that names why a program has ended, in what it printed: after it come a stack trace, the version of Node, or a
 * list of options. `undefined` if no line is known to.
 */
export function findCause(text: string): string | undefined {
  const lines = text.split("\n");
  const own = lines.filter((line, at) => !STACK_LINE.test(line) && !MARK_LINE.test(lines[at + 1] ?? ""));
  return (findPythonCause(lines) ?? findRustCause(lines) ?? findFirst(own))?.trim();
}

/** Python prints the error after its trace, without an indent; a group of errors has its members below it. */
function findPythonCause(lines: readonly string[]): string | undefined {
  const trace = lines.findLastIndex((line) => line.startsWith("Traceback (most recent call last):"));
  if (trace === -1) return lines.find((line) => GROUP_MEMBER.test(line))?.replace(/^[\s|]+/, "");
  const error = lines.slice(trace + 1).find((line) => /^\w/.test(line));
  return error;
}

const GROUP_MEMBER = /^\s*\|\s+(?!\w*ExceptionGroup)[\w.]+(?:Error|Exception)\b/;

/** The message of a panic in Rust is on the line after its place. */
function findRustCause(lines: readonly string[]): string | undefined {
  const at = lines.findIndex((line) => /^thread '[^']*'.* panicked at /.test(line));
  if (at === -1) return undefined;
  const [header = "", message = ""] = lines.slice(at, at + 2);
  return header.endsWith(":") ? `${header} ${message.trim()}` : header;
}

/** The forms of such lines, the surest first. */
const FORMS: readonly RegExp[] = [
  /(?:Error|Exception)(?: \[\w+\])?: |Cannot find (?:module|package)|^(?:error|fatal|panic)\b.*: /i,
  /\([A-Z][\w:]*(?:Error|Exception)\)$/, // Ruby
  /^(?:[\w./-]+: error: |docker: |npm (?:error|ERR!) (?!code |errno |syscall |path ))/,
  /^(?:missing|unknown|unrecognized|unexpected|invalid|not enough|too many)\b.*\b(?:argument|command|option|parameter|variable)/i,
  /^usage\b/i,
];

function findFirst(lines: readonly string[]): string | undefined {
  for (const form of FORMS) {
    const found = lines.find((line) => form.test(line));
    if (found !== undefined) return found;
  }
  return undefined;
}
