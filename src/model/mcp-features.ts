import type { CallContext } from "./skill.ts";

/** What is told of a resource, a template or a prompt, in MCP's own words; whatever else is there is passed on. */
type McpFields = Readonly<Record<string, unknown>>;

export type McpResource = McpFields & { readonly uri: string; readonly name: string };
export type McpTemplate = McpFields & { readonly uriTemplate: string; readonly name: string };
export type McpPrompt = McpFields & { readonly name: string };

/** What a method is told of its call, as far as it concerns reading a resource or getting a prompt. */
export type ReadContext = Pick<CallContext, "caller" | "signal" | "client" | "log" | "progress">;

/**
 * What a skill offers besides its methods: resources and prompts, as MCP has them. Lists are what there is now; what is
 * read and got is a result as MCP has it, and untrusted.
 */
export interface ResourcesAndPrompts {
  readonly resources: readonly McpResource[];
  readonly templates: readonly McpTemplate[];
  readonly prompts: readonly McpPrompt[];
  /** Resolves with `{ contents: […] }`. */
  read(uri: string, context: ReadContext): Promise<unknown>;
  /** Resolves with `{ messages: […] }`. */
  prompt(name: string, args: Readonly<Record<string, string>>, context: ReadContext): Promise<unknown>;
  /** Resolves with `{ completion: { values: […] } }`, for a reference as MCP has it. */
  complete?(params: McpFields, context: ReadContext): Promise<unknown>;
  /** Calls back when a resource has changed; returns what stops that. */
  subscribe?(uri: string, listener: () => void): () => void;
}
