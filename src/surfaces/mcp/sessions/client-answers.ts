import type { ClientCapabilities } from "@modelcontextprotocol/server";

import type { ClientRequest } from "../../../model/client-requests.ts";
import { isRecord } from "../../../model/json.ts";

/** Whether a client's answer is one to this question; what is in it is for the asker to judge. */
export function fits(request: ClientRequest, params: Readonly<Record<string, unknown>>, answer: unknown): boolean {
  if (!isRecord(answer)) return false;
  switch (request) {
    case "elicitation/create":
      return isElicited(answer, params["requestedSchema"]);
    case "sampling/createMessage":
      return typeof answer["role"] === "string" && answer["content"] !== undefined;
    case "roots/list":
      return Array.isArray(answer["roots"]);
  }
}

function isElicited({ action, content }: Readonly<Record<string, unknown>>, schema: unknown): boolean {
  if (action === "decline" || action === "cancel") return true;
  if (action !== "accept") return false;
  const required = isRecord(schema) && Array.isArray(schema["required"]) ? schema["required"] : [];
  return required.length === 0 || (isRecord(content) && required.every((name) => Object.hasOwn(content, String(name))));
}

/** Whether a client has said that it answers such a request, or one with these parameters. */
export type CanAnswer = (request: ClientRequest, params?: Readonly<Record<string, unknown>>) => boolean;

/** By the capabilities that a client has declared. */
export function canAnswer(declared: unknown): CanAnswer {
  return (request, params = {}) => {
    const ability = isRecord(declared) ? declared[CAPABILITIES[request]] : undefined;
    if (!isRecord(ability)) return false;
    if (request === "elicitation/create" && params["mode"] === "url") return isRecord(ability["url"]);
    const usesTools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
    return request !== "sampling/createMessage" || !usesTools || isRecord(ability["tools"]);
  };
}

/** By what a client says that it answers a request. */
export const CAPABILITIES: Readonly<Record<ClientRequest, keyof ClientCapabilities>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};
