import type { Socket } from "node:net";

import type { ApprovalRequest } from "../../../model/approval.ts";
import { isRecord, isTextList } from "../../../model/json.ts";
import type { LogLevel } from "../../../model/skill.ts";
import type { LogEntry, Progress } from "../../../runtime.ts";
import type { CommandResult } from "../command.ts";
import { type Exit, EXIT_CODES } from "../exit-codes.ts";
import { type FieldTest, isBoolean, isNumber, isText, orAbsent, pickFields } from "../input/field-tests.ts";
import { type CommandOperation, OPERATION_FIELDS } from "../operations/operation.ts";
import { jsonText } from "../text/output.ts";
import { MAX_NAMES } from "./address.ts";

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
  readonly hasColors?: boolean;
  readonly isTerminal?: boolean;
  readonly isVerbose?: boolean;
  readonly isDebug?: boolean;
}

/** The longest message in UTF-16 units: the largest result, as text and as JSON, is shorter. */
export const MAX_MESSAGE_UNITS = 256 << 20;

/** The largest request: a program may have 16 MiB. */
export const MAX_REQUEST_UNITS = 64 << 20;

export function sendMessage(socket: Socket, message: object): void {
  if (socket.destroyed || !socket.writable) return;
  socket.write(`${jsonText({ jsonrpc: "2.0", ...message }, 0)}\n`);
}

const LOG_LEVELS: ReadonlySet<unknown> = new Set<LogLevel>(["debug", "info", "warn", "error"]);

/** The parameters of each message of the process that serves. */
const SERVER_MESSAGES: Readonly<Record<ServerMessage["method"], Readonly<Record<string, FieldTest>>>> = {
  hello: { proof: isText, names: (names) => isTextList(names) && names.length <= MAX_NAMES },
  accepted: {},
  log: {
    level: (level) => LOG_LEVELS.has(level),
    text: isText,
    path: orAbsent(isText),
    runId: orAbsent(isText),
    isThrown: orAbsent(isBoolean),
  },
  progress: {
    path: isText,
    done: isNumber,
    total: orAbsent(isNumber),
    text: orAbsent(isText),
    runId: orAbsent(isText),
  },
  ask: { id: isNumber, request: (value) => isRecord(value) && isText(value["card"]) && isTextList(value["scopes"]) },
  closed: { id: isNumber, reason: isText },
};

/** Parses a message of the process that serves; `undefined` for any other. */
export function parseServerMessage({ method, params }: Readonly<Record<string, unknown>>): ServerMessage | undefined {
  if (typeof method !== "string" || !Object.hasOwn(SERVER_MESSAGES, method)) return undefined;
  const fields = pickFields(params, SERVER_MESSAGES[method as ServerMessage["method"]]);
  return fields && ({ method, params: fields } as unknown as ServerMessage);
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

const REQUEST_FIELDS: Readonly<Record<keyof PerformRequest, FieldTest>> = {
  variables: isText,
  files: (files) => Array.isArray(files) && files.every((file) => file === null || isText(file)),
  operation: (operation) => parseOperation(operation) !== undefined,
  approval: (approval) => approval === "yes" || approval === "ask" || approval === "none",
  hasColors: orAbsent(isBoolean),
  isTerminal: orAbsent(isBoolean),
  isVerbose: orAbsent(isBoolean),
  isDebug: orAbsent(isBoolean),
};

/** Parses the request of a command; `undefined` if it is malformed. */
export function parsePerformRequest(params: Readonly<Record<string, unknown>>): PerformRequest | undefined {
  const fields = pickFields(params, REQUEST_FIELDS);
  return fields && ({ ...fields, operation: parseOperation(fields["operation"]) } as unknown as PerformRequest);
}

function parseOperation(written: unknown): CommandOperation | undefined {
  const kind = isRecord(written) ? written["kind"] : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(OPERATION_FIELDS, kind)) return undefined;
  const fields = pickFields(written, OPERATION_FIELDS[kind as CommandOperation["kind"]]);
  return fields && ({ kind, ...fields } as unknown as CommandOperation);
}
