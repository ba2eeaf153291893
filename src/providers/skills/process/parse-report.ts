import { toLogLevel } from "../../../shared/log-levels.ts";
import { parseMetadata } from "../../../authoring/metadata.ts";
import { isRecord, isTextList, toList } from "../../../model/json.ts";
import { parseResult } from "../../../shared/values/value-encoding.ts";
import { isMemberName } from "../../../shared/names/skill-names.ts";
import { CLIENT_REQUESTS } from "../../../model/client-requests.ts";
import type { AccountRequest, MethodDefinition, MethodMetadata } from "../../../model/skill.ts";
import type { ExportPath } from "../type-reader/index.ts";
import type { Failure, Loaded, LoadedSkill, LoadedTool, StoreQuestion, Response } from "./messages.ts";

/** Parses a message of the skill process; `undefined` if it is not a report. Throws for a result that is not JSON. */
export function parseResponse(message: unknown): Response | undefined {
  if (!isRecord(message)) return undefined;
  const { kind, call } = message;
  if (kind === "ready") return { kind };
  if (kind === "loaded") return { kind, ...parseLoaded(message) };
  if (kind === "failed") return { kind, failure: parseFailure(message["failure"]) };
  if (kind === "stray")
    return { kind, failure: parseFailure(message["failure"]), ...optionalText("module", message["module"]) };
  if (kind === "console") {
    const line = { level: toLogLevel(message["level"]), text: text(message["text"]), module: text(message["module"]) };
    return { kind, ...line, ...optionalText("path", message["path"]) };
  }
  if (kind === "changed") return { kind, what: text(message["what"]), path: text(message["path"]) };
  if (typeof call !== "number") return undefined;
  switch (kind) {
    case "started":
    case "late":
    case "cancelled":
      return { kind, call };
    case "result":
      return { kind, call, value: message["isJson"] === true ? parseResult(text(message["value"])) : message["value"] };
    case "error":
      return { kind, call, failure: parseFailure(message["failure"]), isStray: message["isStray"] === true };
    case "log":
      return { kind, call, level: toLogLevel(message["level"]), text: text(message["text"]) };
    case "progress":
      return { kind, call, ...parseProgress(message) };
    case "question":
      return parseQuestion(call, message["ask"], message["question"]);
    default:
      return undefined;
  }
}

function optionalText<Key extends string>(key: Key, value: unknown): Partial<Record<Key, string>> {
  return typeof value === "string" ? ({ [key]: value } as Record<Key, string>) : {};
}

function parseFailure(value: unknown): Failure {
  const { name, message, stack, code } = isRecord(value) ? value : {};
  return {
    name: text(name) || "Error",
    message: text(message) || "no message",
    stack: text(stack),
    ...(typeof code === "string" && { code }),
  };
}

function parseProgress({ done, total, text: message }: Readonly<Record<string, unknown>>) {
  return {
    done: typeof done === "number" ? done : 0,
    ...(typeof total === "number" && { total }),
    ...(typeof message === "string" && { text: message }),
  };
}

function parseQuestion(call: number, ask: unknown, value: unknown): Response | undefined {
  const question = typeof ask === "number" && isRecord(value) ? questionIn(value) : undefined;
  return typeof ask === "number" && question !== undefined ? { kind: "question", call, ask, question } : undefined;
}

function questionIn({ operation, key, ...rest }: Readonly<Record<string, unknown>>): StoreQuestion | undefined {
  switch (operation) {
    case "get":
    case "delete":
      return { operation, key: text(key) };
    case "set":
      return { operation, key: text(key), value: rest["value"] };
    case "entries":
      return { operation, prefix: text(rest["prefix"]) };
    case "fetch": {
      const { account, url, request } = rest;
      if (!isRecord(request)) return undefined;
      return { operation, account: text(account), url: text(url), request: parseRequest(request) };
    }
    case "credential":
      return { operation, account: text(rest["account"]) };
    case "client": {
      const request = CLIENT_REQUESTS.find((each) => each === rest["request"]);
      const { params } = rest;
      if (request === undefined || !isRecord(params)) return undefined;
      return { operation, request, params, ...(typeof key === "string" && { key }) };
    }
    default:
      return undefined;
  }
}

function parseRequest({ method, headers, body }: Readonly<Record<string, unknown>>): AccountRequest {
  const texts = Object.entries(isRecord(headers) ? headers : {}).map(([name, value]) => [name, text(value)]);
  const isBody = typeof body === "string" || body instanceof Uint8Array;
  return {
    ...(typeof method === "string" && { method }),
    headers: Object.fromEntries(texts) as Readonly<Record<string, string>>,
    ...(isBody && { body }),
  };
}

/** Parses what an import has found. */
export function parseLoaded(message: Readonly<Record<string, unknown>>): Loaded {
  const { classes, skills, tools, functions, failures, settings, accounts } = message;
  return {
    classes: toList(classes).map((each) => (each === undefined ? undefined : parseFailure(each))),
    skills: toList(skills).flatMap(parseSkill),
    tools: toList(tools).flatMap(parseTool),
    functions: toList(functions).map(parsePath),
    failures: toList(failures).map(parseFailure),
    ...(isRecord(settings) && { settings }),
    ...(isTextList(accounts) && { accounts }),
  };
}

function parseSkill(value: unknown): readonly LoadedSkill[] {
  if (!isRecord(value)) return [];
  const { path, name, description, guidance, settings, methods } = value;
  if (typeof name !== "string" || !isMemberName(name)) return [];
  return [
    {
      path: parsePath(path),
      name,
      description: text(description),
      methods: toList(methods).flatMap((method) => parseMethod(method, name)),
      ...(typeof guidance === "string" && { guidance }),
      ...(isRecord(settings) && { settings }),
    },
  ];
}

function parseTool(value: unknown): readonly LoadedTool[] {
  if (!isRecord(value)) return [];
  return parseMethod(value["definition"], "tool").map((definition) => ({ path: parsePath(value["path"]), definition }));
}

function parseMethod(value: unknown, skill: string): readonly MethodDefinition[] {
  if (!isRecord(value) || !isRecord(value["input"])) return [];
  const { name, description, input, output, metadata, examples, accounts } = value;
  if (typeof name !== "string" || (name !== "" && !isMemberName(name))) return [];
  return [
    {
      name,
      description: text(description),
      input,
      ...(isRecord(output) && { output }),
      ...(isRecord(metadata) && { metadata: parseReportedMetadata(metadata, `${skill}.${name}`) }),
      ...(isTextList(accounts) && { accounts }),
      ...(Array.isArray(examples) && { examples: examples.filter(isRecord) }),
    },
  ];
}

function parseReportedMetadata(metadata: Readonly<Record<string, unknown>>, path: string): Partial<MethodMetadata> {
  try {
    return parseMetadata(metadata, path);
  } catch {
    // Metadata is validated where it is defined; forged metadata is dropped.
    return {};
  }
}

function parsePath(value: unknown): ExportPath {
  return toList(value).map(text);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
