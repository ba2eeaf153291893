import { createError, type SkillgateError } from "../../../errors.ts";
import { quote } from "../../../shared/format-text.ts";
import type { ApiOperation, ApiParameter } from "./operation.ts";
import { refuseArgument } from "./refuse-argument.ts";
import { expand, percentEncode } from "./serialize.ts";
import { getMember, toText } from "./write-value.ts";

/** A template in parts: a parameter in braces, or text. */
const PARTS = /\{([^{}]*)\}|[^{}]+|[{}]/g;

/** Characters that stand in a path or a query as they are, and percent-encoded triples. */
const NOT_IN_PATH = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]+/g;

/**
 * Fills in the path of an operation. A value never makes a new segment: its slashes are encoded, and a segment that is empty, `.` or
 * `..` is refused, because servers and proxies resolve it also when it is encoded.
 */
export function expandPath({ path, parameters }: ApiOperation, args: Readonly<Record<string, unknown>>): string {
  const byName = new Map(parameters.filter((each) => each.in === "path").map((each) => [each.name, each]));
  const [template = ""] = path.split("#", 1);
  const target = template.replace(PARTS, (text: string, name?: string) => {
    if (name === undefined) return text.replace(NOT_IN_PATH, percentEncode);
    const parameter = byName.get(name);
    if (parameter === undefined) throw refusePath(path, `the document has no parameter ${quote(name)}`);
    return expandValue(parameter, args);
  });
  const [plain = ""] = target.split("?", 1);
  if (plain.split(SLASHES).some(isDots)) throw refusePath(path, `it has the segment "." or ".."`);
  return target.startsWith("/") ? target : `/${target}`;
}

function expandValue(parameter: ApiParameter, args: Readonly<Record<string, unknown>>): string {
  const { name, argument } = parameter;
  const member = getMember(args, argument);
  if (member.value === undefined || member.value === null)
    throw refuseArgument(argument, "is missing: it is a part of the path; write its value");
  const text = expand(name, member, parameter, percentEncode);
  // An item of a list is not a segment of the text of the list, but may be one of the path.
  const parts = [toText(member.value, member.written), text === "." ? "" : text].flatMap((each) => each.split(SLASHES));
  if (parts.some(isDots))
    throw refuseArgument(argument, `has the segment "." or "..", which leads to another path; write a plain name`);
  if (text === "" || text === ".")
    throw refuseArgument(argument, "is empty: it is a part of the path; write its value");
  return text;
}

/** Separators of segments for servers and proxies, encoded or not. */
const SLASHES = /[/\\]|%2F|%5C/i;

/** True for the segments that lead to another path, with their dots encoded or not. */
function isDots(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment);
}

function refusePath(path: string, flaw: string): SkillgateError {
  return createError("CALL_FAILED", `the path ${quote(path)} cannot be sent: ${flaw}`);
}
