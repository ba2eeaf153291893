import { isRecord, type JsonSchema } from "./json.ts";
import {
  type MethodDefinition,
  type MethodMetadata,
  type ProvidedSkill,
  RESPONSE_ARGUMENT,
  type ResponseForms,
} from "./skill.ts";

/** One parameter of a method, in the order of positional arguments: required ones first, each group as declared. */
export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description: string;
}

/** A method as one catalog sees it; frozen. */
export interface Method {
  /** `Skill.method` */
  readonly path: string;
  readonly skill: string;
  readonly name: string;
  readonly wireName: string;
  readonly description: string;
  /** The schemas and the parameters are read and sanitized when they are first read. */
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
  readonly parameters: readonly Parameter[];
  /** Present for a method of an API; `includeResponse` is among its parameters. */
  readonly response: ResponseForms | undefined;
  readonly metadata: MethodMetadata;
  readonly definition: MethodDefinition;
  /** The method of the registry, for one that a profile shows with another name or text. */
  readonly original?: Method;
  /** `add(a: number, b: number): Promise<number>`; made when first read. */
  readonly signature: string;
  /** The signature with its doc comment; made when first read. */
  readonly declaration: string;
}

export interface Skill extends Pick<ProvidedSkill, "name" | "description" | "source" | "kind" | "server" | "guidance"> {
  readonly methods: readonly Method[];
  /** Parts of the methods, which are found, described and decided on, and not called: the root fields of a GraphQL API. */
  readonly parts: readonly Method[];
  readonly provided: ProvidedSkill;
}

/** Returns the methods of a skill and the parts of them. */
export function listEntries({ methods, parts }: Pick<Skill, "methods" | "parts">): readonly Method[] {
  return parts.length === 0 ? methods : [...methods, ...parts];
}

/** Returns the method of the skill of an MCP server that sends a request of MCP; never a tool, whatever its name is. */
export function findProtocolMethod({ kind, methods }: Skill, protocolMethod: string): Method | undefined {
  return kind === "mcp" ? methods.find(({ definition }) => definition.protocolMethod === protocolMethod) : undefined;
}

const FOREIGN: ReadonlySet<string | undefined> = new Set<Skill["kind"]>(["mcp", "node", "api"]);

/** True for a skill of an MCP server, an API or another machine: its schemas are not the owner's, and its values travel as JSON. */
export function isForeign(skill: Pick<Skill, "kind"> | undefined): boolean {
  return FOREIGN.has(skill?.kind);
}

/** True for a call that asks for another form of the result than the output schema of the method describes. */
export function asksForResponse({ response }: Pick<Method, "response">, args: readonly unknown[]): boolean {
  const isAsked = (value: unknown): boolean => isRecord(value) && (value[RESPONSE_ARGUMENT] ?? false) !== false;
  return response !== undefined && args.some(isAsked);
}

/** Returns the method that rules, records and providers know, for one of a profile. */
export function getOriginal(method: Method): Method {
  return method.original ?? method;
}

/** The frozen view that one run sees. Names are looked up in maps, never on objects. */
export interface Catalog {
  /** Grows with every change. */
  readonly version: number;
  readonly skills: readonly Skill[];
  /** Skills of Skillgate itself: they are found by their names, and no list, search or prompt has them. */
  readonly unlisted: readonly Skill[];
  readonly methods: readonly Method[];
  /** The methods of each skill, and the parts of them. */
  readonly entries: readonly Method[];
  skill(name: string): Skill | undefined;
  /** By path, `Skill.method`. */
  method(path: string): Method | undefined;
  /** A method, or a part of one, `Skill.method:part`. */
  entry(path: string): Method | undefined;
}
