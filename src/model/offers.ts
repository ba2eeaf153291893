import type { CallContext } from "./skill.ts";

/** What is told of a resource, a template or a prompt, in MCP's own words; whatever else is there is passed on. */
type Told = Readonly<Record<string, unknown>>;

export type OfferedResource = Told & { readonly uri: string; readonly name: string };
export type OfferedTemplate = Told & { readonly uriTemplate: string; readonly name: string };
export type OfferedPrompt = Told & { readonly name: string };

/** What a method is told of its call, as far as it concerns reading a resource or getting a prompt. */
export type OfferContext = Pick<CallContext, "caller" | "signal" | "client" | "log" | "progress">;

/**
 * What a skill offers besides its methods: resources and prompts, as MCP has them. Lists are what there is now; what is
 * read and got is a result as MCP has it, and untrusted.
 */
export interface Offers {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly prompts: readonly OfferedPrompt[];
  /** Resolves with `{ contents: […] }`. */
  read(uri: string, context: OfferContext): Promise<unknown>;
  /** Resolves with `{ messages: […] }`. */
  prompt(name: string, args: Readonly<Record<string, string>>, context: OfferContext): Promise<unknown>;
  /** Resolves with `{ completion: { values: […] } }`, for a reference as MCP has it. */
  complete?(params: Told, context: OfferContext): Promise<unknown>;
  /** Calls back when a resource has changed; returns what stops that. */
  subscribe?(uri: string, listener: () => void): () => void;
}
