/** Requests that a client may be able to answer, by their MCP names. */
export const CLIENT_REQUESTS = ["elicitation/create", "sampling/createMessage", "roots/list"] as const;

export type ClientRequest = (typeof CLIENT_REQUESTS)[number];

/** The extension of MCP Apps: tools with pages that a client shows. */
export const APPS_EXTENSION = "io.modelcontextprotocol/ui";

/** The pages that a client shows. */
export interface ClientApps {
  /** Media types, such as `text/html;profile=mcp-app`. */
  readonly mimeTypes: readonly string[];
}

/** The program at the caller's end, as far as it can be asked something while a method runs. */
export interface Client {
  /** The generation of MCP that it speaks: a `legacy` client is asked by requests, a `modern` one by results. */
  readonly era?: "legacy" | "modern";
  /** Present if it shows pages of MCP Apps. */
  readonly apps?: ClientApps | undefined;
  /** Whether it has said that it answers such requests. */
  can(request: ClientRequest): boolean;
  /**
   * Asks it, with the parameters that MCP has for the request, and resolves with its result as it came: untrusted. Rejects
   * where it cannot answer. Requests of one call that are under way together have different keys.
   */
  ask(request: ClientRequest, params: Readonly<Record<string, unknown>>, key?: string): Promise<unknown>;
}
