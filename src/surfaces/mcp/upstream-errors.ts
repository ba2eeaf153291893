import {
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  INVALID_PARAMS,
  ResourceNotFoundError,
} from "@modelcontextprotocol/server";

import { SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { CAPABILITIES } from "./sessions/client-answers.ts";

/**
 * Finds the protocol error that answers a request in place of a result: an error that an upstream MCP server returned, with its code
 * and its data and without secrets, or the error of the 2026 protocol for a client that lacks a capability.
 */
export function findProtocolError(
  thrown: unknown,
  era: "legacy" | "modern",
  secrets: KnownSecrets,
): ProtocolError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MAX_DEPTH; error = error.cause, depth++) {
    if (isProtocolError(error))
      return new ProtocolError(
        toEra(getCode(error), era),
        secrets.maskText(error.message),
        secrets.maskTexts(error.data),
      );
    const requiredCapabilities = era === "modern" ? lackingCapability(error) : undefined;
    if (requiredCapabilities !== undefined) return new MissingRequiredClientCapabilityError({ requiredCapabilities });
  }
  return undefined;
}

/** Does work for a client; an error that an upstream server returned keeps its code and its data. */
export async function passErrorsOn<Result>(
  { era, secrets }: { readonly era: "legacy" | "modern"; readonly secrets: KnownSecrets },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof ResourceNotFoundError)
      throw new ProtocolError(toEra(RESOURCE_NOT_FOUND, era), thrown.message, thrown.data);
    if (thrown instanceof ProtocolError) throw thrown; // it is an error of this server
    throw findProtocolError(thrown, era, secrets) ?? thrown;
  }
}

const MAX_DEPTH = 5;

/** The code of a resource that does not exist, before 2026-07-28; since then it is that of invalid params. */
const RESOURCE_NOT_FOUND = -32_002;

/** Stands for `RESOURCE_NOT_FOUND` as far as the SDK, which replaces that for clients of all versions. */
const KEPT_NOT_FOUND = -1_032_002;

/** The SDK has replaced the code of an error that says which resource does not exist. */
function getCode({ code, data }: { readonly code: number; readonly data?: unknown }): number {
  const isOfResource = isRecord(data) && typeof data["uri"] === "string" && Object.keys(data).length === 1;
  return code === INVALID_PARAMS && isOfResource ? RESOURCE_NOT_FOUND : code;
}

function toEra(code: number, era: "legacy" | "modern"): number {
  if (code !== RESOURCE_NOT_FOUND) return code;
  return era === "legacy" ? KEPT_NOT_FOUND : INVALID_PARAMS;
}

/** Returns the code that a client gets. */
export function toWireCode(code: number): number {
  return code === KEPT_NOT_FOUND ? RESOURCE_NOT_FOUND : code;
}

/** Checks by name: the client package of the SDK has its own `ProtocolError` class. */
function isProtocolError(error: Error): error is Error & { readonly code: number; readonly data?: unknown } {
  return error.name === "ProtocolError" && "code" in error && Number.isInteger(error.code);
}

function lackingCapability(error: Error): ClientCapabilities | undefined {
  if (!(error instanceof SkillgateError) || error.code !== "CLIENT_UNABLE" || !isRecord(error.facts)) return undefined;
  const { request } = error.facts;
  const capability = Object.entries(CAPABILITIES).find(([name]) => name === request)?.[1];
  return capability === undefined ? undefined : { [capability]: {} };
}
