import { OAuthError } from "@modelcontextprotocol/client";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";

/** Describes why tokens were not granted: an error of OAuth by its code, and a malformed answer by its wrong members. */
export function describeRefusal(thrown: unknown): string {
  const message = getMessage(thrown);
  if (thrown instanceof OAuthError && thrown.code !== message) return `${thrown.code}: ${message}`;
  const { issues } = isRecord(thrown) ? thrown : {};
  return Array.isArray(issues)
    ? `an answer is malformed: ${issues.slice(0, MAX_MEMBERS).map(describeIssue).join(", ")}`
    : message;
}

const MAX_MEMBERS = 3;

/** `token_type: Invalid input: expected string, received undefined` */
function describeIssue(issue: unknown): string {
  const { path, message } = isRecord(issue) ? issue : {};
  return [...(Array.isArray(path) && path.length > 0 ? [path.join(".")] : []), String(message)].join(": ");
}
