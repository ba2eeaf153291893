import type { Context } from "hono";

import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { newTraceId } from "../../shared/rpc-errors.ts";
import { type HttpServices, readJson } from "../http/index.ts";
import { invalidRequest } from "./problem.ts";
import type { ConsoleEnvironment } from "./services.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads the body of a request, a JSON object; throws `REQUEST_INVALID`. */
export async function readObject(
  c: Context<ConsoleEnvironment>,
  { settings }: Pick<HttpServices, "settings">,
): Promise<JsonObject> {
  const limit = { bytes: settings.bodyBytes, fix: "Send a smaller body, or raise server.bodyBytes in settings.yaml" };
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

/** Reads a whole number of the query; throws `REQUEST_INVALID`. */
export function readNumber(
  c: Context<ConsoleEnvironment>,
  name: string,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  const text = c.req.query(name);
  if (text === undefined) return fallback;
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  throw invalidRequest(`${name} must be a whole number from 0 to ${max}`);
}
