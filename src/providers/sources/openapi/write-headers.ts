import { hasControls, isToken, toHeaderText } from "./header-text.ts";
import type { ApiOperation } from "./operation.ts";
import { refuseArgument } from "./refuse-argument.ts";
import { expand, toPairs } from "./serialize.ts";
import { getMember, listItems, listMembers, toText } from "./write-value.ts";
import { isPlainObject } from "../../../model/arguments.ts";

/**
 * Headers that arguments never set: they belong to the connection, to the body, to credentials, or would change the method or the path that
 * rules and approvals have seen.
 */
const RESERVED: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "cookie2",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "keep-alive",
  "origin",
  "referer",
  "set-cookie",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);

/** Writes the headers of an operation that come from arguments, by their names in lower case, with those of `cookie` parameters in one. */
export function writeHeaders(
  { parameters }: Pick<ApiOperation, "parameters">,
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const headers = new Map<string, string>();
  const cookies: string[] = [];
  for (const parameter of parameters) {
    const member = getMember(args, parameter.argument);
    if (member.value === undefined || member.value === null) continue;
    if (parameter.in === "cookie") {
      requireNoControls(parameter.argument, member.value, member.written);
      // A reserved character would begin another cookie.
      cookies.push(...toPairs(parameter.name, member, { ...parameter, allowReserved: false }));
    } else if (parameter.in === "header" && isSettable(parameter.name)) {
      const text = expand(parameter.name, member, parameter, (each) => each);
      requireNoControls(parameter.argument, text);
      headers.set(parameter.name.toLowerCase(), toHeaderText(text));
    }
  }
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  return Object.fromEntries(headers);
}

/** Tests whether arguments may set a header. */
export function isSettable(name: string): boolean {
  const lower = name.toLowerCase();
  return isToken(name) && !RESERVED.has(lower) && !lower.startsWith("proxy-") && !lower.startsWith("sec-");
}

function requireNoControls(argument: string, value: unknown, written?: string): void {
  if (Array.isArray(value)) for (const item of listItems(value)) requireNoControls(argument, item.value, item.written);
  else if (isPlainObject(value))
    for (const member of listMembers(value)) {
      requireNoControls(argument, member.name);
      requireNoControls(argument, member.value, member.written);
    }
  else if (hasControls(toText(value, written)))
    throw refuseArgument(
      argument,
      "has a line break or a control character, which a header cannot have; write one line",
    );
}
