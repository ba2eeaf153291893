/** True for the words of servers that are busy or away for a moment: the same call may succeed soon. */
export function isTransient(message: string): boolean {
  const text = message.slice(0, MAX_MESSAGE_UNITS);
  return (STATUS.test(text) || TRANSIENT.test(text)) && !FINAL.test(text);
}

const MAX_MESSAGE_UNITS = 2_000;
/** A number is a status at the beginning of a message, or after a word for it. */
const STATUS =
  /(?:^(?:MCP error -?\d+: )?\W?|\b(?:HTTP(?:\/[\d.]+)?|status|error)(?:[ _-]?(?:status|error|code))*["']?[:=]? ?["']?)(?:429|50[234])\b/i;
const TRANSIENT =
  /\btoo many requests\b|\brate.?limit|\b(?:temporarily|currently|service) unavailable\b|\bbad gateway\b|\bgateway time-?out\b|\b(?:timed out|time-?out)\b|\b(?:retry|try again)\b(?![ -](?:limit|exceeded))|\b(?:ECONNRESET|EPIPE|ETIMEDOUT)\b|\bsocket hang up\b|\bclosed the connection\b|\blost the session\b|\((?:RATE_LIMIT|CALL_TIMEOUT)\)/i;
/** The server says that the same call fails again. */
const FINAL = /\b(?:not|never|don['’]?t)(?: (?:to|safe to|please))? (?:retry|try again)\b/i;

/** Returns the milliseconds after which a message allows the next call, as in `retry after 2 s`; `undefined` without them. */
export function findRetryAfterMs(message: string): number | undefined {
  const [, amount, unit = ""] = RETRY_AFTER.exec(message.slice(0, MAX_MESSAGE_UNITS)) ?? [];
  if (amount === undefined) return undefined;
  const unitMs = /^m(?:s|illi)/i.test(unit) ? 1 : /^m/i.test(unit) ? 60_000 : 1_000;
  return Math.ceil(Number(amount) * unitMs);
}

const RETRY_AFTER =
  /\b(?:retry|try again|wait|available)(?:[- ]?after)?["']?(?: in| for)?[:=]? ?["']?(\d{1,6}(?:\.\d{1,3})?) ?(ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?)?\b/i;
