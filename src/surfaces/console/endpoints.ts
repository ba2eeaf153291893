import type { Context } from "hono";

import { sentence, SkillgateError } from "../../errors.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import { isRecord, isTextList } from "../../model/json.ts";
import { newTraceId } from "../../shared/rpc-errors.ts";
import { bodyLimit, readJson } from "../http/index.ts";
import { invalidRequest } from "./problem.ts";
import type { ConsoleApi, ConsoleEnvironment, ConsoleServices } from "./services.ts";

/** A request to an endpoint. */
export interface ConsoleRequest {
  readonly c: Context<ConsoleEnvironment>;
  /** The runtime for the caller. */
  readonly view: RuntimeView;
  /** Returns a part of the path, such as `:id`. */
  readonly getPart: (name: string) => string;
  /** Reads the body, a JSON object; throws `REQUEST_INVALID`. */
  readonly readBody: () => Promise<JsonObject>;
}

/** Returns what is sent as JSON, or a response; nothing is answered with the status 204. */
export type Endpoint = (request: ConsoleRequest) => unknown;

/** The endpoints of one topic, by method and path below `/console/api`. */
export type Endpoints = Readonly<Record<`${"DELETE" | "GET" | "PATCH" | "POST" | "PUT"} /${string}`, Endpoint>>;

export function addEndpoints(api: ConsoleApi, { http, runtime }: ConsoleServices, endpoints: Endpoints): void {
  for (const [route, endpoint] of Object.entries(endpoints)) {
    const [method = "", path = ""] = route.split(" ");
    api.on(method, path, async (c) => {
      const answer = await endpoint({
        c,
        view: runtime.viewFor(c.get("caller")),
        getPart: (name) => c.req.param(name) ?? "",
        readBody: () => readBody(c, http),
      });
      if (answer instanceof Response) return answer;
      return answer === undefined ? c.body(null, 204) : c.json(answer);
    });
  }
}

export type JsonObject = Readonly<Record<string, unknown>>;

async function readBody(
  c: Context<ConsoleEnvironment>,
  { settings, bodies }: ConsoleServices["http"],
): Promise<JsonObject> {
  const limit = bodyLimit(settings.bodyBytes, bodies, c.get("caller"));
  const body = await readJson(c.env.incoming, limit, newTraceId);
  if (body.kind === "unfit") {
    const { reason, suggestions } = body.fault.data;
    throw new SkillgateError("REQUEST_INVALID", sentence("REQUEST_INVALID", reason), { suggestions });
  }
  if (body.kind === "json" && isRecord(body.value)) return body.value;
  throw invalidRequest("the body is not a JSON object");
}

/** Reads a text of a body that must not be empty; throws `REQUEST_INVALID`. */
export function readText(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "") return value;
  throw invalidRequest(`${name} must be a text that is not empty`);
}

/** Reads a list of texts of a body, none by default; throws `REQUEST_INVALID`. */
export function readTexts(body: JsonObject, name: string): readonly string[] {
  const value = body[name] ?? [];
  if (isTextList(value)) return value;
  throw invalidRequest(`${name} must be a list of texts`);
}

/** Reads a text that is analysed on the event loop; throws `REQUEST_INVALID` for one that is too long. */
export function readSource(body: JsonObject, name: string, maxBytes: number): string {
  const source = readText(body, name);
  if (Buffer.byteLength(source) <= maxBytes) return source;
  throw invalidRequest(`${name} must have at most ${maxBytes} bytes`);
}

/** Reads the field `enabled` of a body; throws `REQUEST_INVALID`. */
export function readEnabled({ enabled }: JsonObject): boolean {
  if (typeof enabled === "boolean") return enabled;
  throw invalidRequest("enabled must be true or false");
}

/** Reads a whole number of the query; throws `REQUEST_INVALID`. */
export function readNumber(
  c: Context<ConsoleEnvironment>,
  name: string,
  { fallback, max = 999_999_999 }: { readonly fallback: number; readonly max?: number },
): number {
  const text = c.req.query(name);
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  throw invalidRequest(`${name} must be a whole number from 0 to ${max}`);
}

/** Reads a time of the query, in milliseconds since 1970; throws `REQUEST_INVALID`. */
export function readTime(c: Context<ConsoleEnvironment>, name: string): number | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw invalidRequest(`${name} must be a time in milliseconds since 1970`);
}
