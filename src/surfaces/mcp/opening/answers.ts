import { isRecord } from "../../../model/json.ts";
import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import { IDENTITY } from "../identity.ts";
import { getClientName, isUsualCapabilities, isUsualMeta } from "./declarations.ts";
import {
  CLIENT_CAPABILITIES_KEY,
  CLIENT_INFO_KEY,
  LEGACY_CAPABILITIES,
  LEGACY_VERSIONS,
  MODERN_CAPABILITIES,
  MODERN_VERSION,
  PROTOCOL_VERSION_KEY,
  SERVER_INFO_KEY,
  type Extensions,
  withExtensions,
} from "./protocol.ts";

/** The texts for the model of a client. */
export interface OpeningTexts {
  readonly instructions: string;
  /** The list of tools; `undefined` if it depends on methods that are not known yet. */
  readonly tools: readonly ToolDefinition[] | undefined;
  /** The extensions that the servers behind need. */
  readonly extensions?: Extensions;
}

/** Returns the texts for a client by its name; `undefined` if they are not known yet. */
export type GetOpeningTexts = (clientName: string) => OpeningTexts | undefined;

/** The result of a request, and the name of the client. */
interface OpeningAnswer {
  readonly clientName: string;
  readonly result: object;
  /** True for the request by which the server learns about the client. */
  readonly isHandshake?: true;
  /** The list of tools, if that is the result. */
  readonly tools?: readonly ToolDefinition[];
}

/**
 * Answers the first requests of a client: `initialize` or `server/discover`, and `tools/list`. Every other message has no
 * answer here, and neither has a request that is not exactly of the usual form.
 */
export class EarlyAnswers {
  readonly #getTexts: GetOpeningTexts;
  /** The name of a client of a version before 2026-07-28, from `initialize`. */
  #clientName: string | undefined;

  constructor(getTexts: GetOpeningTexts) {
    this.#getTexts = getTexts;
  }

  answer(method: unknown, params: unknown): OpeningAnswer | undefined {
    if (params !== undefined && !isRecord(params)) return undefined;
    if (!isUsualMeta(params?.["_meta"])) return undefined;
    const modernName = getModernName(params?.["_meta"]);
    if (modernName !== undefined) return this.#answerModern(method, params ?? {}, modernName);
    if (method === "initialize") return this.#initialize(params ?? {});
    if (method !== "tools/list" || this.#clientName === undefined || hasCursor(params)) return undefined;
    return this.#listTools(this.#clientName);
  }

  #initialize({
    protocolVersion: version,
    capabilities: declared,
    clientInfo,
  }: Readonly<Record<string, unknown>>): OpeningAnswer | undefined {
    const name = getClientName(clientInfo);
    if (typeof version !== "string" || !isUsualCapabilities(declared) || name === undefined) return undefined;
    this.#clientName = name;
    const protocolVersion = LEGACY_VERSIONS.includes(version) ? version : LEGACY_VERSIONS[0];
    const texts = this.#getTexts(name);
    if (texts === undefined) return undefined;
    const { instructions, extensions } = texts;
    const capabilities = withExtensions(LEGACY_CAPABILITIES, extensions);
    const result = { protocolVersion, capabilities, serverInfo: IDENTITY, instructions };
    return { clientName: name, result, isHandshake: true };
  }

  #listTools(clientName: string): OpeningAnswer | undefined {
    const tools = this.#getTexts(clientName)?.tools;
    return tools && { clientName, result: { tools }, tools };
  }

  #answerModern(
    method: unknown,
    params: Readonly<Record<string, unknown>>,
    clientName: string,
  ): OpeningAnswer | undefined {
    const own =
      method === "server/discover"
        ? this.#discover(clientName)
        : method === "tools/list" && !hasCursor(params)
          ? this.#listTools(clientName)
          : undefined;
    return own && { ...own, result: { ...own.result, ...MODERN_MEMBERS } };
  }

  #discover(clientName: string): OpeningAnswer | undefined {
    const texts = this.#getTexts(clientName);
    if (texts === undefined) return undefined;
    const { instructions, extensions } = texts;
    const capabilities = withExtensions(MODERN_CAPABILITIES, extensions);
    return {
      clientName,
      result: { supportedVersions: [MODERN_VERSION], capabilities, instructions },
    };
  }
}

/** The members that the SDK adds to the results of the 2026 protocol. */
const MODERN_MEMBERS = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  _meta: { [SERVER_INFO_KEY]: IDENTITY },
};

function hasCursor(params: Readonly<Record<string, unknown>> | undefined): boolean {
  return params?.["cursor"] !== undefined;
}

/** Returns the name of a client that speaks 2026-07-28; `undefined` for other requests. */
function getModernName(meta: unknown): string | undefined {
  if (!isRecord(meta) || meta[PROTOCOL_VERSION_KEY] !== MODERN_VERSION) return undefined;
  return isUsualCapabilities(meta[CLIENT_CAPABILITIES_KEY]) ? getClientName(meta[CLIENT_INFO_KEY]) : undefined;
}
