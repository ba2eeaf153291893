import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";

import { type ErrorCode, getMessage, sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Connection } from "./connections/connection.ts";
import { describeExit, describeHttp, networkFailure } from "./connections/start-failure.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { findSizeExcess } from "../../shared/values/value-size.ts";
import type { CallFacts } from "./results.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import { getPagesToVisit } from "./url-elicitation.ts";
import { OVERLONG_ANSWER, STREAM_ENDED } from "./connections/wire-errors.ts";

/** How long to wait for a process to end after its pipe broke. */
const EXIT_MS = 1_000;

/** Why a call got no result. */
export type ExplainedFailure =
  /** The server answered with an error. */
  | { readonly kind: "answered"; readonly error: SkillgateError }
  /** The server ended, or cannot be reached. */
  | { readonly kind: "gone"; readonly why: string }
  /** The session expired on the server, which did not process the call. */
  | { readonly kind: "session expired" };

/** Determines why a call failed. */
export async function explainFailure(
  thrown: unknown,
  connection: Connection,
  facts: CallFacts,
  secrets: KnownSecrets,
): Promise<ExplainedFailure> {
  if (thrown instanceof SkillgateError) return answered(thrown.code, thrown.message, facts);
  if (thrown instanceof SdkHttpError) return explainHttp(thrown, connection, facts, secrets);
  if (thrown instanceof ProtocolError) return explainError(thrown, facts);
  const failure = networkFailure(thrown);
  if (failure !== undefined) return { kind: "gone", why: `cannot be reached (${failure.code})` };
  if (isBroken(thrown)) return { kind: "gone", why: await describeEnd(connection) };
  return answered("CALL_FAILED", sentence("CALL_FAILED", `${called(facts)}: ${getMessage(thrown)}`), facts, thrown);
}

function explainError(thrown: ProtocolError, facts: CallFacts): ExplainedFailure {
  const { code, message } = thrown;
  if (code === STREAM_ENDED) return { kind: "gone", why: message };
  const pages = getPagesToVisit(thrown).map(({ url }) => url);
  if (pages.length > 0) return answered("CALL_FAILED", `${message}; first visit ${pages.join(" and ")}`, facts, thrown);
  if (code !== OVERLONG_ANSWER) return { kind: "answered", error: toServerError(thrown, facts) };
  return answered("ANSWER_LIMIT", sentence("ANSWER_LIMIT", `${called(facts)}: ${message}`), facts);
}

function toServerError(thrown: ProtocolError, facts: CallFacts): SkillgateError {
  const { code, data } = thrown;
  const message =
    thrown.message.trim() === ""
      ? sentence("CALL_FAILED", `${called(facts)} gives no details except the code ${code}`)
      : thrown.message;
  const hasData = data !== undefined && findSizeExcess(data) === undefined;
  const serverError = { code, ...(hasData && { data }) };
  return new SkillgateError("CALL_FAILED", message, { ...facts, error: message, serverError }, { cause: thrown });
}

function explainHttp(
  thrown: SdkHttpError,
  connection: Connection,
  facts: CallFacts,
  secrets: KnownSecrets,
): ExplainedFailure {
  const { status } = thrown;
  if (connection.hasSession && (status === 404 || status === 400)) return { kind: "session expired" };
  return answered("CALL_FAILED", sentence("CALL_FAILED", `${called(facts)} ${describeHttp(thrown, secrets)}`), facts);
}

/** Keeps the thrown value as the cause of the error. */
function answered(code: ErrorCode, message: string, facts: CallFacts, cause?: unknown): ExplainedFailure {
  return { kind: "answered", error: new SkillgateError(code, message, { ...facts, error: message }, { cause }) };
}

/** `"search" of "brave"` */
function called({ tool, server }: CallFacts): string {
  return `"${tool}" of "${server}"`;
}

function isBroken(thrown: unknown): boolean {
  if (thrown instanceof Error && thrown.message === NOT_CONNECTED) return true;
  if (thrown instanceof SdkError) {
    return thrown.code === SdkErrorCode.ConnectionClosed || thrown.code === SdkErrorCode.NotConnected;
  }
  return isRecord(thrown) && BROKEN_PIPE.has(thrown["code"]);
}

/** The message of an error without a code, with which the SDK rejects a request after its connection has ended. */
const NOT_CONNECTED = "Not connected";

/** Error codes of a connection that the other end has closed. */
const BROKEN_PIPE: ReadonlySet<unknown> = new Set([
  "EPIPE",
  "ECONNRESET",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
]);

export async function describeEnd(connection: Connection): Promise<string> {
  await waitAtMost(EXIT_MS, connection.closed);
  const exit = connection.report()?.exit;
  return exit === undefined ? "closed the connection" : describeExit(exit);
}
