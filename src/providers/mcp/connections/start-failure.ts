import { existsSync } from "node:fs";
import { parse } from "node:path";

import { SdkError, SdkErrorCode, SdkHttpError, SseError } from "@modelcontextprotocol/client";

import { createError, getMessage, type SkillgateError } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { findCause } from "./find-cause.ts";
import { AuthorizationError } from "../oauth/session.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { ServerConfig } from "../server-config.ts";
import type { ProcessExit } from "../stdio/process.ts";
import { readable } from "../stdio/output-tail.ts";
import { truncateText } from "../../../shared/format-text.ts";
import type { ProcessReport } from "../stdio/transport.ts";

/** Maximum number of stderr lines in an error, if no line of them names the cause. */
const STDERR_LINES = 10;

/** Maximum number of characters of the line that names the cause. */
const CAUSE_CHARACTERS = 500;

/** Maximum number of characters of a server's answer in an error. */
const ANSWER_CHARACTERS = 200;

/** The observations about a server that did not start. */
export interface FailedStart {
  readonly thrown: unknown;
  readonly timeoutMs: number;
  readonly secrets: KnownSecrets;
  readonly report: ProcessReport | undefined;
  /** The step that failed, used if nothing more is known: `refused the handshake`. */
  readonly step: string;
}

/** Creates the error for a server that did not start: what it did instead, and what it printed. */
export function startFailure(config: ServerConfig, failed: FailedStart): SkillgateError {
  const { thrown, report } = failed;
  const did =
    report?.exit === undefined
      ? describeNetworkError(config, failed)
      : `${describeExit(report.exit)} before it was ready`;
  const values = [`"${config.name}" ${did}`, ...printed(report)].join(", ");
  return createError("SERVER_FAILED", values, { server: config.name }, { cause: thrown });
}

/** `exited with code 1`, `was ended by SIGKILL` */
export function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

/** A failure of the network: the server could not be reached. */
export interface NetworkFailure {
  /** `ECONNREFUSED` */
  readonly code: string;
  /** `connect ECONNREFUSED 127.0.0.1:80`, only for the user: it may reveal internal addresses. */
  readonly message: string;
}

export function networkFailure(thrown: unknown): NetworkFailure | undefined {
  if (!(thrown instanceof Error)) return undefined;
  // A server may answer with the same words: its error is not a TypeError.
  if (!(thrown instanceof TypeError && thrown.message === "fetch failed")) return networkFailure(thrown.cause);
  const { cause } = thrown;
  const code = isRecord(cause) && typeof cause["code"] === "string" ? cause["code"] : "no connection";
  return { code, message: (cause instanceof Error && getMessage(cause)) || code };
}

/** True if the same start may succeed later: the server was not reached, did not answer in time, or is not ready yet. */
export function isTemporary(thrown: unknown): boolean {
  if (authorizationFailure(thrown) !== undefined) return false;
  if (networkFailure(thrown) !== undefined || isTimeout(thrown)) return true;
  if (thrown instanceof SdkHttpError) return UNREADY.has(thrown.status);
  return thrown instanceof Error && isTemporary(thrown.cause);
}

/** Status codes of servers, and of the proxies before them, that start or have too much to do. */
const UNREADY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns why access was not granted; searches the chain of causes. */
export function authorizationFailure(thrown: unknown): string | undefined {
  if (thrown instanceof AuthorizationError) return thrown.message;
  return thrown instanceof Error ? authorizationFailure(thrown.cause) : undefined;
}

/** `asks for authorization (HTTP 401)`, `answered HTTP 500: …` */
export function describeHttp({ status, data }: SdkHttpError, secrets: KnownSecrets): string {
  if (status === 401) return "asks for authorization (HTTP 401)";
  if (status === 403) return "denies access (HTTP 403)";
  const answer = typeof data["text"] === "string" ? secrets.maskText(readable(data["text"])) : "";
  const text = answer.slice(0, ANSWER_CHARACTERS);
  return text === "" ? `answered HTTP ${status}` : `answered HTTP ${status}: ${text}`;
}

function describeNetworkError(config: ServerConfig, { thrown, timeoutMs, step, secrets }: FailedStart): string {
  const refusal = authorizationFailure(thrown);
  if (refusal !== undefined) return refusal;
  if (isTimeout(thrown)) return `did not answer within ${timeoutMs / 1000} s${downloadHint(config)}`;
  if (thrown instanceof SdkHttpError)
    return describeHttp(thrown, secrets) + (thrown.status === 401 ? loginHint(config) : "");
  if (thrown instanceof SseError) return `cannot be reached: ${thrown.message}`;
  if (config.transport === "stdio" && isSpawnError(thrown)) {
    if (thrown["code"] !== "ENOENT") return `cannot be started: ${getMessage(thrown)}`;
    const lacks = existsSync(config.cwd) ? `the command "${config.command}"` : `the folder "${config.cwd}"`;
    return `cannot be started, ${lacks} does not exist`;
  }
  const failure = networkFailure(thrown);
  return failure === undefined ? `${step}: ${getMessage(thrown)}` : `cannot be reached: ${failure.message}`;
}

/** Says what to do if the first start takes so long because the command downloads the server. */
function downloadHint(config: ServerConfig): string {
  if (config.transport !== "stdio") return "";
  const tool = [config.command, ...config.args.slice(0, 2)]
    .map((word) => parse(word).name)
    .find((name) => DOWNLOADERS.has(name));
  if (tool === undefined) return "";
  return `, if ${tool} still downloads it, run its command once in a terminal or raise timeouts.connectMs`;
}

/** Commands that download a program before they start it, as in `npx NAME`. */
const DOWNLOADERS: ReadonlySet<string> = new Set(["npx", "bunx", "pnpx", "dlx", "uvx", "pipx", "dnx", "docker"]);

/** Suggests a login, unless the entry has an authorization header: then the header is wrong. */
function loginHint(config: ServerConfig): string {
  if (config.transport === "stdio") return "";
  const hasHeader = Object.keys(config.headers).some((name) => name.toLowerCase() === "authorization");
  return hasHeader ? "" : `, log in with: skillgate mcp login ${config.name}`;
}

function isSpawnError(thrown: unknown): thrown is Record<string, unknown> {
  return isRecord(thrown) && typeof thrown["syscall"] === "string" && thrown["syscall"].startsWith("spawn");
}

function isTimeout(thrown: unknown): boolean {
  if (thrown instanceof SdkError) return thrown.code === SdkErrorCode.RequestTimeout;
  return thrown instanceof Error && thrown.name === "TimeoutError";
}

function printed(report: ProcessReport | undefined): readonly string[] {
  const { stdoutNoise = "", stderrTail = "" } = report ?? {};
  return [...describeOutput("stdout", stdoutNoise, 1), ...describeOutput("stderr", stderrTail, STDERR_LINES)];
}

/** The line that names the cause, else the last lines. */
function describeOutput(stream: string, text: string, maxLines: number): readonly string[] {
  const cause = findCause(text);
  const excerpt =
    cause === undefined ? text.split("\n").slice(-maxLines).join("\n") : truncateText(cause, CAUSE_CHARACTERS);
  return excerpt === "" ? [] : [`${stream}: ${JSON.stringify(excerpt)}`];
}
