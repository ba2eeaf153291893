import type { ClientCapabilities } from "@modelcontextprotocol/server";

import { sentence, SkillgateError } from "../../../errors.ts";
import { APPS_EXTENSION, type Client, type ClientRequest } from "../../../model/client-requests.ts";
import { asPage, type Caller, withAnswers } from "../../../model/caller.ts";
import { isRecord } from "../../../model/json.ts";

/** Checks the form of a client's answer; the code that asked validates its content. */
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

/** Whether a client supports a request, or a request with these parameters. */
export type CanAnswer = (request: ClientRequest, params?: Readonly<Record<string, unknown>>) => boolean;

/** Creates the check from the capabilities that a client declared. */
export function canAnswer(declared: unknown): CanAnswer {
  return (request, params = {}) => {
    const ability = isRecord(declared) ? declared[CAPABILITIES[request]] : undefined;
    if (!isRecord(ability)) return false;
    if (request === "elicitation/create" && params["mode"] === "url") return isRecord(ability["url"]);
    const usesTools = params["tools"] !== undefined || params["toolChoice"] !== undefined;
    return request !== "sampling/createMessage" || !usesTools || isRecord(ability["tools"]);
  };
}

/** Reads the apps that a client declares to show; without its media types, it shows none. */
export function parseApps(declared: unknown): Pick<Client, "apps"> {
  const extensions = isRecord(declared) ? declared["extensions"] : undefined;
  const extension = isRecord(extensions) ? extensions[APPS_EXTENSION] : undefined;
  const written = isRecord(extension) && Array.isArray(extension["mimeTypes"]) ? extension["mimeTypes"] : undefined;
  const isType = (type: unknown): type is string => typeof type === "string" && type.length <= MAX_TYPE_CHARACTERS;
  return written === undefined ? {} : { apps: { mimeTypes: written.filter(isType).slice(0, MAX_TYPES) } };
}

/** Returns a caller with the methods that its client lists: those that need its answers, and those of the pages that it shows. */
export function withClient(caller: Caller, declared: unknown): Caller {
  const answering = withAnswers(caller, { can: canAnswer(declared) });
  return parseApps(declared).apps === undefined ? answering : asPage(answering);
}

const MAX_TYPES = 20;
const MAX_TYPE_CHARACTERS = 100;

/** The client capability that each request requires. */
export const CAPABILITIES: Readonly<Record<ClientRequest, keyof ClientCapabilities>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Creates the error of a question that no client answers. */
export function cannotAsk(request: ClientRequest): SkillgateError {
  return new SkillgateError("CLIENT_UNABLE", sentence("CLIENT_UNABLE", `no client answers ${request}`), { request });
}
