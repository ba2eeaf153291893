import {
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  ProtocolError,
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
      return new ProtocolError(error.code, secrets.maskText(error.message), secrets.maskTexts(error.data));
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
    if (thrown instanceof ProtocolError) throw thrown; // it is an error of this server
    throw findProtocolError(thrown, era, secrets) ?? thrown;
  }
}

const MAX_DEPTH = 5;

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
