import type { Credential, OpenAccount } from "./account.ts";
import type { Caller } from "./caller.ts";
import type { Client, ClientRequest } from "./client-requests.ts";
import type { JsonSchema } from "./json.ts";
import type { ResourcesAndPrompts } from "./mcp-features.ts";
import type { RequestValues } from "./requests/request-values.ts";

export type Capability =
  | "web_search"
  | "documentation"
  | "api_call"
  | "code_execution"
  | "database"
  | "computation"
  | "file_system"
  | "analysis"
  | "communication";

/** Metadata of a method. Defaults are in `METADATA_DEFAULTS`. */
export interface MethodMetadata {
  readonly category: string;
  readonly capabilities: readonly Capability[];
  readonly tags: readonly string[];
  /** Semantic version. */
  readonly version: string;
  /** `false`, or a sentence that says what to use instead. */
  readonly deprecated: false | string;
  readonly author: string;
  readonly requiredScopes: readonly string[];
  readonly sensitivity: "low" | "medium" | "high";
  readonly approval: "none" | "user" | "admin";
  readonly cooldownSeconds: number;
  /** Calls per minute; 0 means no limit. */
  readonly rateLimit: number;
  readonly timeoutMs: number;
  /** 0 means no cache. */
  readonly cacheTtlSeconds: number;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
  /**
   * Whether a call of the method as a tool over MCP becomes a task: `optional` if it lasts, `required` always. Clients that do
   * not take tasks cannot call a method that requires them, unless their protocol is older than tasks.
   */
  readonly taskSupport: "optional" | "required" | "forbidden";
}

export const METADATA_DEFAULTS: MethodMetadata = Object.freeze({
  category: "general",
  capabilities: Object.freeze([]),
  tags: Object.freeze([]),
  version: "1.0.0",
  deprecated: false,
  author: "",
  requiredScopes: Object.freeze([]),
  sensitivity: "low",
  approval: "none",
  cooldownSeconds: 0,
  rateLimit: 0,
  timeoutMs: 30_000,
  cacheTtlSeconds: 0,
  readOnly: false,
  destructive: false,
  idempotent: false,
  openWorld: false,
  taskSupport: "optional",
});

/** The argument by which a method of an API gives more of an answer than its body: `true` for `{ status, headers, body }`. */
export const RESPONSE_ARGUMENT = "includeResponse";

/** The forms of its result that a method of an API has beside the body of an answer. */
export interface ResponseForms {
  /** The names of the members that lead to the list in the body of a page; absent for a method without pages. */
  readonly items?: readonly string[];
}

/** A request of HTTP, as an API describes it. */
export interface HttpRequest {
  /** In lower case. */
  readonly verb: string;
  /** A template with parameters in braces: `/repos/{owner}`. */
  readonly path: string;
}

/** Returns a request as the description of a method shows it: `GET /repos/{owner}`. */
export function formatRequest({ verb, path }: HttpRequest): string {
  return `${verb.toUpperCase()} ${path}`;
}

/** Keyword of a schema in place of one that is left out of an output, because it is too deep. `findType` returns it. */
export const OMITTED_TYPE = "x-omitted";

/** A mistake in a text of a query language. */
export interface QueryProblem {
  /** A sentence without a period: `Cannot query field "titel" on type "Issue"; did you mean "title"?` */
  readonly message: string;
  /** Where it is in the text, in UTF-16 units; the whole text without it: a mistake in the variables. */
  readonly range?: readonly [start: number, end: number];
  /** Texts to write instead of the range, best first. */
  readonly suggestions: readonly string[];
}

/** A text of a query language, as it was checked against the schema of its API. */
export interface CheckedQuery {
  /** Empty for a text that may be sent. */
  readonly problems: readonly QueryProblem[];
  /** The names of the parts that it contains, each as often as it does: `mutate:createIssue`. */
  readonly parts: readonly string[];
  /** The type of the result, by what the text selects; absent if the text has problems. */
  readonly output?: JsonSchema;
}

/** The query language of a method: GraphQL. */
export interface QueryText {
  /** The argument with the text. */
  readonly argument: string;
  /** The argument with the values of its variables. */
  readonly variables: string;
  /**
   * Checks a text, off the thread of its caller. `variables` may have `UNKNOWN` in place of values that are known only at run time;
   * `undefined` stands for variables that are not known at all. Rejects with a `SkillgateError` if the text cannot be checked.
   */
  check(text: string, variables?: unknown): Promise<CheckedQuery>;
}

/** A method as its provider describes it. */
export interface MethodDefinition {
  /** A JavaScript identifier, unique within its skill. */
  readonly name: string;
  /** The name on the wire where it differs (MCP tool names). */
  readonly wireName?: string;
  /** The name as a tool without its skill, if the configuration has renamed it; by default, `wireName`. */
  readonly toolName?: string;
  readonly description: string;
  /** `type: object`. The order of its properties is the order of positional arguments, required ones first. */
  readonly input: JsonSchema;
  readonly output?: JsonSchema | undefined;
  /** The names of its arguments, for the index of a search, of a method whose schemas are read when they are needed. */
  readonly argumentNames?: readonly string[];
  /** The request that the method sends, of a method of an API. Its description ends with it. */
  readonly request?: HttpRequest;
  /** The service behind the method fills in the defaults of its schema; nothing is added to the arguments before. */
  readonly fillsDefaults?: true;
  /** It takes a BigInt where its schema has a number, and writes it as JSON. */
  readonly takesLongIntegers?: true;
  readonly response?: ResponseForms | undefined;
  /** Returns a named type of its schemas; the case of letters and other characters do not count. */
  readonly findType?: (name: string) => JsonSchema | undefined;
  readonly metadata?: Partial<MethodMetadata>;
  /** Digest of the file with this method and its program, of a saved skill. */
  readonly fileDigest?: string;
  /** Its provider recognizes a call that is made again by its id: one whose end is not known may be made again. */
  readonly recognizesRepeats?: true;
  /** The names of the accounts with which it makes requests. */
  readonly accounts?: readonly string[];
  /** Says what decides its effects, for people, where its provider does not state them. */
  readonly effectReason?: string;
  /** The requests that the client of a caller must answer; a caller without them does not have the method. */
  readonly needsClient?: readonly ClientRequest[];
  /** True for a tool that only the pages of its server call: models and programs do not have it. */
  readonly isOnlyForPages?: boolean;
  /** Present for a method that takes a text in a query language. */
  readonly queryText?: QueryText;
  /** The method whose calls contain this part of it: `mutate` for `mutate:createIssue`. A part is not called by itself. */
  readonly partOf?: string;
  /** The signature in the language of its API, in place of the one by its schemas. */
  readonly signature?: string;
  readonly examples?: readonly MethodExample[];
  /** An object after other arguments is always a value, never arguments by name. */
  readonly isPositional?: true;
  /** The request of MCP that the method sends, for one that every MCP server with its ability has; absent for tools. */
  readonly protocolMethod?: string;
  /** Other fields of an MCP tool (`TOOL_FIELDS`), as its server sent them, for clients that call the method as a tool. */
  readonly toolFields?: Readonly<Record<string, unknown>>;
}

/** Returns a definition with other members. Those that it reads late, which are of its class, stay so. */
export function changeDefinition(definition: MethodDefinition, changes: Partial<MethodDefinition>): MethodDefinition {
  return Object.assign(Object.create(Object.getPrototypeOf(definition)), definition, changes);
}

export interface MethodExample {
  /** A request for which the method is the answer. */
  readonly request?: string;
  /** Code that calls the method. */
  readonly code?: string;
}

export type LogLevel = "debug" | "info" | "warn" | "error";

/** A log message of an MCP server: its level of MCP, the name of its logger, and data of any form. */
export interface SentLog {
  readonly level: unknown;
  readonly logger?: string;
  readonly data: unknown;
}

/** The context that a method receives with each call. */
export interface CallContext {
  readonly caller: Caller;
  readonly runId: string;
  readonly callId: string;
  /** The name of the automation whose run makes the call; absent for any other call. */
  readonly automation?: string;
  /** Waits for a user's answer; this time does not count towards the method's timeout. */
  readonly pauseTimeoutFor?: <Answer>(answer: Promise<Answer>) => Promise<Answer>;
  /** Milliseconds until the timeout when the call began; never more than the run had left. */
  readonly timeoutMs?: number;
  /** Fires at the timeout, or when the run ends. */
  readonly signal: AbortSignal;
  /** `sent` is the message of an MCP server as it was on the wire, to pass it on unchanged. */
  readonly log: (level: LogLevel, text: string, sent?: SentLog) => void;
  /** The skill's section of the settings, with the defaults of its own schema. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Settings that the skill declares as secret (`writeOnly`); they come from the environment. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The skill's own; its other calls see the same, and so do later runtimes on the same store. */
  readonly store: SkillStore;
  /** `done` of `total`, in the method's own unit. */
  readonly progress: (done: number, total?: number, text?: string) => void;
  /** The client that can answer for the user, if one is connected. */
  readonly client?: Client;
  /** The headers and session values of the caller's request; only MCP servers get them. */
  readonly requestValues?: RequestValues;
  /** Takes a remark about the result, which the caller reads beside it. */
  readonly addNote?: (text: string) => void;
  /** Takes the result of an MCP server as it was on the wire; absent if it is not passed on. */
  readonly wire?: (result: unknown) => void;
  /** The task of an MCP server that the call waits for; absent for a call without a record. */
  readonly task?: CallTask;
  /**
   * Reads the credential of an account of the method, for a request. Rejects as `Account.open`, and with `ACCOUNT_UNAVAILABLE` if
   * the caller has another connection than at the beginning of the call. Only APIs and MCP servers get it.
   */
  readonly openAccount?: (name: string) => Promise<OpenAccount>;
  /** Returns an account that the skill declares, for requests to its service. Throws for another one. */
  readonly account: (name: string) => SkillAccount;
  /** Takes the function that says which listed skills the caller gets; absent if it gets all of them. */
  readonly deferSkills?: (show: ShowSkills) => void;
}

/** An account as a skill uses it: its credential is added to requests, and the skill does not see it. */
export interface SkillAccount {
  /**
   * Makes a request to one of the `servers` of the account. Redirects are followed on the same server only. Rejects for other
   * addresses, for a header of the credential, and if there is no answer.
   */
  fetch(url: string | URL, request?: AccountRequest): Promise<AccountResponse>;
  /** Returns the credential itself. Rejects, unless `reveal` of the account names the skill. */
  credential(): Promise<Credential>;
}

export interface AccountRequest {
  /** `GET` by default. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, bytes, or a value that is sent as JSON. */
  readonly body?: string | Uint8Array | Readonly<Record<string, unknown>> | readonly unknown[];
}

/** The answer to a request, without the credential and without cookies. */
export interface AccountResponse {
  readonly status: number;
  /** True for a status from 200 to 299. */
  readonly ok: boolean;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  text(): Promise<string>;
  json(): Promise<unknown>;
  bytes(): Promise<Uint8Array>;
}

/** A task that an MCP server has created in place of a result. */
export interface ServerTask {
  readonly id: string;
  /** Identifies the tool, and the entry of its server: no other one gets the id. */
  readonly origin: string;
}

/** The task that a call waits for; it is recorded, so that the wait outlasts the process. */
export interface CallTask {
  /** The task that an earlier process waited for, and that was not found yet: it is asked for in place of another call. */
  readonly earlier: ServerTask | undefined;
  /** Records a task that was created or found. Must be awaited before the wait; never rejects. */
  keep(task: ServerTask): Promise<void>;
}

/** Says that a caller gets the skills with these addresses, of a list that a server has sent before. */
export type ShowSkills = (uris: ReadonlySet<string>) => void;

/** The part of a call's context that a request to an MCP server needs. */
export type RequestContext = Pick<
  CallContext,
  "caller" | "signal" | "client" | "log" | "progress" | "pauseTimeoutFor"
> &
  Partial<Pick<CallContext, "callId" | "wire" | "deferSkills" | "addNote" | "requestValues" | "task" | "openAccount">>;

/** Why a skill does not offer a method: its definition has changed and is not accepted yet, or it is gone. */
export interface MissingMethod {
  readonly code: "METHOD_HELD" | "METHOD_REMOVED";
  /** `has changed since it was accepted; the owner accepts it with: skillgate source accept github` */
  readonly why: string;
}

/** The health of a skill. */
export interface Health {
  readonly healthy: boolean;
  readonly message: string;
}

/** Facts about a skill that was saved from a run. */
export interface SavedFacts {
  /** Id of the run. */
  readonly run: string;
  /** Passes after which the skill is not marked as saved any more. */
  readonly requiredPasses: number;
  /** Returns how often it has passed since its file was changed. */
  getPasses(): number;
}

/** Stores JSON values of a skill by key, from one call to the next. Returns copies. */
export interface SkillStore {
  /** `undefined` for a key that is not there. */
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  /** Says whether it was there. */
  delete(key: string): Promise<boolean>;
  /** Those whose keys begin with a prefix, in the order of their keys. */
  entries(prefix?: string): Promise<readonly (readonly [key: string, value: unknown])[]>;
}

/**
 * A skill as its provider offers it. `invoke` gets validated, named arguments and returns plain data; it rejects with
 * a `SkillgateError`, or with any error whose message may be shown to a guest.
 */
export interface ProvidedSkill {
  readonly name: string;
  readonly description: string;
  /** Its origin, for display: a file relative to the skills folder, the MCP server's name, or the URL of an API's document. */
  readonly source: string;
  readonly kind: "code" | "file" | "mcp" | "node" | "api";
  /** Identifies the MCP server by its configuration and version, for what is stored about its methods. */
  readonly origin?: string;
  /** Identifies where its calls go: the servers of an API, the configuration of an MCP server. It has no secret. */
  readonly destination?: string;
  /** The MCP server's own name, where there is one. */
  readonly server?: string;
  /** Longer guidance for models, shown by `describe`. */
  readonly guidance?: string;
  /** The schema of its settings. */
  readonly settings?: JsonSchema;
  /** Present for a skill that was saved from a run. */
  readonly saved?: SavedFacts;
  /** The skill is a part of Skillgate: it is found by its name alone. */
  readonly isUnlisted?: true;
  readonly methods: readonly MethodDefinition[];
  /** Parts of its methods that have effects, rules and descriptions of their own: the root fields of a GraphQL API. */
  readonly parts?: readonly MethodDefinition[];
  /** Returns the definition of a named type in the language of its API; the case of letters does not count. */
  findTypeText?(name: string): string | undefined;
  /** Returns its health; a skill without this method counts as healthy. */
  health?(): Promise<Health>;
  /**
   * Returns a key of the values that the skill takes from a request, which results depend on; `undefined` if it takes none. With a
   * caller, the key is of its accounts, too. Throws a `SkillgateError` for a request that the skill cannot be called with.
   */
  getRequestKey?(values: RequestValues | undefined, caller?: Caller): string | undefined;
  /** Present if its MCP server announces the extension of MCP Apps. */
  readonly hasApps?: true;
  /** Its resources and prompts. */
  readonly offers?: ResourcesAndPrompts;
  /** Completes an argument of a prompt or a template of an MCP server; resolves with `{ completion: { values: […] } }`. */
  complete?: ResourcesAndPrompts["complete"];
  /** Watches a resource of an MCP server; absent if the server announces no subscriptions. */
  subscribe?: ResourcesAndPrompts["subscribe"];
  /** Says why it does not offer a method that it has or had: `undefined` for a name that it never had. */
  whyMissing?(method: string): MissingMethod | undefined;
  invoke(method: MethodDefinition, input: Readonly<Record<string, unknown>>, context: CallContext): Promise<unknown>;
}
