import type { CallContext, ShowSkills } from "./skill.ts";

/** A resource, a template or a prompt as MCP describes it; unknown fields are passed on. */
type McpFields = Readonly<Record<string, unknown>>;

export type McpResource = McpFields & { readonly uri: string; readonly name: string };
export type McpTemplate = McpFields & { readonly uriTemplate: string; readonly name: string };
export type McpPrompt = McpFields & { readonly name: string };
/** A skill of the extension `io.modelcontextprotocol/skills`: instructions for a model, with files. */
export type McpSkill = McpFields & { readonly uri: string };

/** The lists of a server whose changes are announced. */
export const LIST_NAMES = ["tools", "resources", "prompts"] as const;

export type ListName = (typeof LIST_NAMES)[number];

/** The part of a call's context that reading a resource or getting a prompt needs. */
export type ReadContext = Pick<CallContext, "caller" | "signal" | "client" | "log" | "progress" | "requestValues">;

/**
 * Resources and prompts of a skill, as MCP defines them. The lists are current; results of reading are as MCP defines
 * them, and untrusted.
 */
export interface ResourcesAndPrompts {
  readonly resources: readonly McpResource[];
  readonly templates: readonly McpTemplate[];
  readonly prompts: readonly McpPrompt[];
  readonly skills?: readonly McpSkill[];
  /** Must be called with the skills of the list that a client gets, because its files are compared with that. */
  readonly showSkills?: ShowSkills;
  /** Resolves with `{ contents: […] }`. */
  read(uri: string, context: ReadContext): Promise<unknown>;
  /** Resolves with `{ messages: […] }`. */
  prompt(name: string, args: Readonly<Record<string, string>>, context: ReadContext): Promise<unknown>;
  /** Resolves with the entries of a folder; absent if only the lists of files of skills say what is in it. */
  directory?(uri: string, context: ReadContext): Promise<readonly unknown[]>;
  /** Resolves with `{ skill: … }`. */
  skill?(uri: string, context: ReadContext): Promise<unknown>;
  /** Resolves with `{ completion: { values: […] } }`, for a reference as MCP has it. */
  complete?(params: McpFields, context: ReadContext): Promise<unknown>;
  /** Calls back with the URI of a resource that has changed, or of one below it, which begins with its URI; resolves with what stops that. */
  subscribe?(uri: string, listener: (uri: string) => void, context: ReadContext): Promise<() => void> | (() => void);
}
