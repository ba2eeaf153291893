import type { Socket } from "node:net";

import { isRecord, isTextList } from "../../../model/json.ts";
import type { ApprovalRequest } from "../../../model/approval.ts";
import type { LogLevel } from "../../../model/skill.ts";
import type { LogEntry, Progress } from "../../../runtime.ts";
import type { WrittenInput } from "../input/call-input.ts";
import type { CommandOperation } from "../operations/operation.ts";
import { EXIT_CODES, type Exit } from "../exit-codes.ts";
import type { CommandResult } from "../terminal/terminal.ts";
import { jsonText } from "../text/output.ts";
import { MAX_NAMES } from "./environment.ts";

/**
 * The messages at the socket: JSON-RPC 2.0, one object a line. The process that serves sends `hello` first. The command
 * sends one request, `perform`, and may send `cancel` and `answer`. Until its response it receives `accepted`, then `log`,
 * `progress`, `ask` and `closed`.
 */
export type ServerMessage =
  | { readonly method: "hello"; readonly params: Hello }
  | { readonly method: "accepted"; readonly params: Readonly<Record<string, never>> }
  | { readonly method: "log"; readonly params: LogEntry }
  | { readonly method: "progress"; readonly params: Progress }
  | { readonly method: "ask"; readonly params: { readonly id: number; readonly request: ApprovalRequest } }
  | { readonly method: "closed"; readonly params: { readonly id: number; readonly reason: string } };

export interface Hello {
  /** Signs the text `hello`. */
  readonly proof: string;
  /** The environment variables that must have the same values. */
  readonly names: readonly string[];
}

/** The request of a command. */
export interface PerformRequest {
  /** Signs the values of the variables. */
  readonly variables: string;
  /** The absolute paths of the flags `--skills`, `--settings` and `--mcp-config`. */
  readonly files: readonly (string | null)[];
  readonly operation: CommandOperation;
  readonly approval: "yes" | "ask" | "none";
  readonly hasColors: boolean;
  readonly isTerminal: boolean;
  readonly isVerbose: boolean;
  readonly isDebug: boolean;
}

/** The longest message in UTF-16 units: the largest result, as text and as JSON, is shorter. */
export const MAX_MESSAGE_UNITS = 256 << 20;

/** The largest request: a program may have 16 MiB. */
export const MAX_REQUEST_UNITS = 64 << 20;

/** Bytes that the other side may leave unread. */
const MAX_UNREAD_BYTES = 256 << 20;

export function sendMessage(socket: Socket, message: object): void {
  if (socket.destroyed || !socket.writable) return;
  if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  else socket.write(`${jsonText({ jsonrpc: "2.0", ...message }, 0)}\n`);
}

export function parseLine(line: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line ?? "");
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Parses a message of the process that serves; `undefined` for any other. */
export function parseServerMessage({ method, params }: Readonly<Record<string, unknown>>): ServerMessage | undefined {
  if (!isRecord(params)) return undefined;
  switch (method) {
    case "hello":
      return typeof params["proof"] === "string" && isNameList(params["names"])
        ? { method, params: { proof: params["proof"], names: params["names"] } }
        : undefined;
    case "accepted":
      return { method, params: {} };
    case "log":
      return isLogEntry(params) ? { method, params: params as unknown as LogEntry } : undefined;
    case "progress":
      return isProgress(params) ? { method, params: params as unknown as Progress } : undefined;
    case "ask":
      return isQuestion(params) ? { method, params: params as never } : undefined;
    case "closed":
      return typeof params["id"] === "number"
        ? { method, params: { id: params["id"], reason: String(params["reason"]) } }
        : undefined;
    default:
      return undefined;
  }
}

/** Parses the result of an operation. */
export function parseResult(value: unknown): CommandResult | undefined {
  if (!isRecord(value)) return undefined;
  const { exit, json, text, remarks, asides, isInterrupted } = value;
  if (typeof exit !== "string" || !Object.hasOwn(EXIT_CODES, exit) || typeof text !== "string") return undefined;
  return {
    exit: exit as Exit,
    json,
    text,
    ...(typeof remarks === "string" && { remarks }),
    ...(typeof asides === "string" && { asides }),
    ...(isInterrupted === true && { isInterrupted }),
  };
}

/** Parses the request of a command; `undefined` if it is malformed. */
export function parsePerformRequest(params: Readonly<Record<string, unknown>>): PerformRequest | undefined {
  const { variables, files, approval } = params;
  const operation = isRecord(params["operation"]) ? parseOperation(params["operation"]) : undefined;
  if (operation === undefined || typeof variables !== "string" || !Array.isArray(files)) return undefined;
  if (approval !== "yes" && approval !== "ask" && approval !== "none") return undefined;
  return {
    variables,
    files: files.map((file) => (typeof file === "string" ? file : null)),
    operation,
    approval,
    hasColors: params["hasColors"] === true,
    isTerminal: params["isTerminal"] === true,
    isVerbose: params["isVerbose"] === true,
    isDebug: params["isDebug"] === true,
  };
}

function parseOperation(written: Readonly<Record<string, unknown>>): CommandOperation | undefined {
  const { kind, source, path, timeoutMs, again, reuse, continue: run } = written;
  if (kind === "run" && typeof source === "string")
    return {
      kind,
      source,
      hasTrace: written["hasTrace"] === true,
      ...(typeof timeoutMs === "number" && { timeoutMs }),
      ...(typeof run === "string" && { continue: run }),
      ...(isNumberList(again) && { again }),
      ...(isNumberList(reuse) && { reuse }),
    };
  const input = parseWrittenInput(written["input"]);
  return kind === "call" && typeof path === "string" && input !== undefined ? { kind, path, input } : undefined;
}

function parseWrittenInput(value: unknown): WrittenInput | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, object, texts } = value;
  if (kind === "object" && isRecord(object)) return { kind, object };
  if (kind !== "texts" || !Array.isArray(texts)) return undefined;
  const pairs = texts.filter((pair): pair is [string, string] => isTextList(pair) && pair.length === 2);
  return pairs.length === texts.length ? { kind, texts: pairs } : undefined;
}

const isNumberList = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((item) => typeof item === "number");

const isNameList = (value: unknown): value is readonly string[] => isTextList(value) && value.length <= MAX_NAMES;

const LOG_LEVELS: ReadonlySet<unknown> = new Set<LogLevel>(["debug", "info", "warn", "error"]);

function isLogEntry({ level, text, path = "" }: Readonly<Record<string, unknown>>): boolean {
  return LOG_LEVELS.has(level) && typeof text === "string" && typeof path === "string";
}

function isProgress({ path, done, total = 0, text = "" }: Readonly<Record<string, unknown>>): boolean {
  return typeof path === "string" && typeof done === "number" && typeof total === "number" && typeof text === "string";
}

function isQuestion({ id, request }: Readonly<Record<string, unknown>>): boolean {
  return (
    typeof id === "number" && isRecord(request) && typeof request["card"] === "string" && isTextList(request["scopes"])
  );
}
