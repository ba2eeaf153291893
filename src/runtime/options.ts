import type { ObservationSettings } from "../observed/index.ts";
import type { ApprovalWait, Approve } from "../model/approval.ts";
import type { Prompter } from "../config/index.ts";
import type { Limits } from "../model/limits.ts";
import type { LogLevel, ProvidedSkill } from "../model/skill.ts";
import type { Timeouts } from "../model/timeouts.ts";
import type { PageSetting } from "../model/tools/source-pages.ts";
import type { SkillInspector } from "../providers/skills/index.ts";
import type { McpServerOptions } from "./mcp-options.ts";

/** Everything is optional: a runtime without options has the skills of the folder `skills` and nothing else. */
export interface RuntimeOptions {
  /** Folder of skill modules, relative to `cwd`; `false` for none. `skills` by default. */
  readonly skillsDir?: string | false;
  /** Folder of automations, relative to `cwd`; `automations` by default. They run after `automations.follow()`. */
  readonly automationsDir?: string;
  /** Skills that the program itself defines. */
  readonly skills?: readonly ProvidedSkill[];
  /** MCP servers by name, in any of the dialects that files use. */
  readonly mcpServers?: Readonly<Record<string, unknown>>;
  /** Options for MCP servers. */
  readonly mcp?: McpServerOptions;
  /** Path of a settings.yaml to read; it must exist. */
  readonly settings?: string;
  /** Path of an MCP configuration file to read; it must exist. */
  readonly mcpConfig?: string;
  /** Reads the usual configuration files too: settings.yaml, mcp.json, .mcp.json, the user's own. Off by default. */
  readonly discover?: boolean;
  /**
   * Can be asked what configuration files leave open: values of `${input:…}`, when servers are about to start, and with
   * `trust: "recorded"` whether the project may do what its files say.
   */
  readonly person?: Prompter;
  /**
   * Whether the files of the project in `cwd` count: `given`, the default, as a program that names a folder runs code from
   * there anyway; `recorded` only if its owner has trusted it is now, with `skillgate trust` or when the person was
   * asked. Until then its skills, servers, `.env` and what its settings loosen are held.
   */
  readonly trust?: "given" | "recorded";
  /** Uses only the configured MCP servers with these names. */
  readonly onlyServers?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Time limits of checking arguments, finding methods, waiting for the store and connecting to MCP servers. */
  readonly timeouts?: Partial<Timeouts>;
  /**
   * Stores a record of each decision on a call and of its end: `store`, in the database of the store, or `off`, the
   * default. Calls are refused while records cannot be stored.
   */
  readonly audit?: "off" | "store";
  /**
   * Folder in which skills keep what they remember, and the runtime its statistics, for the next runtime. Without one both
   * end with the runtime.
   */
  readonly store?: string;
  /** Gets what skills and providers have to say. */
  readonly log?: LogListener;
  /**
   * Answers for a person when a method needs an approval: `true`, or a scope of the yes; any other value is a no. Without it
   * the call fails, unless `approvals.wait` is true; a later yes counts for the next call with the same arguments.
   */
  readonly approve?: Approve;
  /** Path of a file of policy rows to read; it must exist. Its section `roles` maps roles to scopes. */
  readonly policy?: string;
  readonly approvals?: ApprovalOptions;
  /**
   * The network whose devices offer their skills as `devices.name.Skill`, as in the section `nodes` of the settings: `url`,
   * `credentials`, `name`, `key`, `peers`, `silenceSeconds`. Each one replaces that of the file; `false` uses no network.
   */
  readonly nodes?: Readonly<Record<string, unknown>> | false;
  /**
   * The network whose executors execute the runs, as in the section `executors` of the settings, which it replaces in part:
   * `url`, `credentials`, `name`, `key`, `peers`, `silenceSeconds`. Without this option, or with `false`, the runtime executes
   * its runs itself.
   */
  readonly executors?: Readonly<Record<string, unknown>> | false;
  /** Which runs are recorded, so that they can be continued, shown and replayed. */
  readonly runs?: RunRecordOptions;
  /**
   * A program sees `[secret:1]` in place of each secret that is known, such as those of the settings of skills and of MCP servers.
   * Methods of the skill that returned it receive the secret; with `rehydrate`, every method does.
   */
  readonly secrets?: { readonly rehydrate?: boolean };
  /** With `proposals`, models can propose automations by the tool `propose_automation`; off by default. */
  readonly automations?: { readonly proposals?: boolean };
  /** With `content`, spans of calls have their arguments and results, without secrets. Off by default. */
  readonly telemetry?: { readonly content?: boolean };
  /**
   * Opens skills and servers only when `ready` is asked for, or a program names what is not there: a short-lived program
   * that needs none of them starts faster.
   */
  readonly lazy?: boolean;
  /** Imports a file of skills that was imported before only when one of its methods is called. Off by default. */
  readonly deferSkills?: boolean;
  /** Lets a debugger attach to the processes of file skills, which then have no time limits. */
  readonly inspectSkills?: SkillInspector;
  /** Reloads changed skill files, and changed settings of skills, while the runtime is open. Off by default. */
  readonly watch?: boolean;
  /**
   * Lets the TypeScript compiler look at each program before it runs, in a thread of its own, for at most 100 ms; without the
   * package `typescript` nothing is looked at. On by default, from a second after the first program; `true` loads it at once,
   * `false` never.
   */
  readonly typecheck?: boolean;
  /**
   * Observes use, in memory: `requests` which words stand for which methods, for each caller; `results` what methods
   * return, without values. On by default; `false` for neither.
   */
  readonly observe?: boolean | Partial<ObservationSettings>;
  /**
   * Approximate length of the catalog in prompts and in the instructions for MCP clients; 2,500 by default, 0 for none.
   */
  readonly catalogTokens?: number;
  /** Worker threads of the sandbox; one fewer than the process may use processors, from 1 to 4, by default. */
  readonly workers?: number;
  /** APIs whose OpenAPI documents or GraphQL schemas become skills, by name, as in the section `sources` of settings.yaml. */
  readonly sources?: Readonly<Record<string, SourceSettings>>;
  /** Accounts at services, by name, as in the section `accounts` of settings.yaml. */
  readonly accounts?: Readonly<Record<string, AccountSettings>>;
  /** The base of relative paths; the current folder by default. */
  readonly cwd?: string;
  /** The environment that configuration may refer to; that of the process by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** An API whose OpenAPI document or GraphQL schema becomes a skill. It has either `openapi` or `graphql`. */
export interface SourceSettings {
  /** The URL or the file of its OpenAPI document. */
  readonly openapi?: string;
  /** The endpoint of a GraphQL API, to which all its requests go. It has no `server`, `servers`, `methods`, `pages` and `patch`. */
  readonly graphql?: string;
  /** The URL or the file of the schema of a GraphQL API: SDL, or a saved introspection. By default, the endpoint describes it. */
  readonly schema?: string;
  /** The name of its skill; by default, `GithubAPI` for the name `github`, or `GithubGraph` for a GraphQL API. */
  readonly skill?: string;
  /** The base URL of its requests; by default, the first server of the document. */
  readonly server?: string;
  /** Further servers, where operations of the document have their own. Headers are sent to them, too. */
  readonly servers?: readonly string[];
  /** Headers of all its requests. They are secret. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The account with whose credential its requests are made, or accounts by pattern. The last pattern that matches decides. */
  readonly account?: string | Readonly<Record<string, string>>;
  /** The document or the server may be at an address of a private network. Off by default. */
  readonly private?: boolean;
  /**
   * Patterns of the operations that become methods, as in `["GET *", "/repos/*", "issues_*"]`, or of the root fields of a GraphQL API
   * that are offered, as in `["query:*", "mutate:createIssue"]`; all of them by default.
   */
  readonly include?: readonly string[];
  /** Patterns of the operations that do not. */
  readonly exclude?: readonly string[];
  /** Effects of operations, by pattern, where their verb does not say them. The last pattern that matches decides. */
  readonly effects?: Readonly<Record<string, "read" | "write" | "destructive">>;
  /** Names, titles and descriptions in place of those of methods, by the names that the document gives them. */
  readonly methods?: Readonly<
    Record<string, { readonly name?: string; readonly title?: string; readonly description?: string }>
  >;
  /** A file with a JSON patch (RFC 6902), which changes the document before it is read. */
  readonly patch?: string;
  /** When a document at a URL is read again: after a time such as `24h`, `30m` or `7d`, or `never`, the default. */
  readonly refresh?: string;
  /** Operations that were changed or added since they were accepted are reported (the default), or also held. */
  readonly changes?: "report" | "hold";
  /** How the pages of lists follow each other, by pattern, where the document does not say it. The last pattern that matches decides. */
  readonly pages?: Readonly<Record<string, PageSetting>>;
  /**
   * How queries of a GraphQL API are sent: in a body (`post`, the default), in the address (`get`), or by their digests to a server that
   * stores their texts (`persisted`). Mutations and files are always sent in a body.
   */
  readonly requests?: "post" | "get" | "persisted";
  /** The header that makes a repeated request harmless, such as `Idempotency-Key`. */
  readonly idempotencyHeader?: string;
}

/** An account at a service. Values and secrets may be variables: `${NAME}`. */
export interface AccountSettings {
  readonly type: "apiKey" | "basic" | "bearer" | "oauth";
  /** The owners of connections: by default `everyone` if the settings have the credential, else each `caller`. */
  readonly for?: "caller" | "everyone";
  /** Origins that skills may send the credential to. */
  readonly servers?: readonly string[];
  /** Names of skills that may read the credential itself. */
  readonly reveal?: readonly string[];
  /** Its service may be at an address of a private network. Off by default. */
  readonly private?: boolean;
  /** The URL of a harmless request that shows whether the credential is accepted. */
  readonly test?: string;
  /** The part of the request with the key, for the type `apiKey`. */
  readonly in?: "header" | "query" | "cookie" | "body";
  /** The name of the header, parameter, cookie or field, or a list of names. */
  readonly name?: string | readonly string[];
  /** The key, or a list in the order of the names. Secret. */
  readonly value?: string | readonly string[];
  /** A text before each value, such as `Token `. */
  readonly prefix?: string;
  /** The user, for the type `basic`. Secret. */
  readonly username?: string;
  /** Secret. */
  readonly password?: string;
  /** The token, for the type `bearer`. Secret. */
  readonly token?: string;
  /** How tokens are requested, for the type `oauth`; `code` by default. */
  readonly grant?: "code" | "client" | "device";
  /** The URL of the provider, whose metadata have the other URLs. */
  readonly issuer?: string;
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly deviceUrl?: string;
  readonly revocationUrl?: string;
  readonly clientId?: string;
  /** Secret. */
  readonly clientSecret?: string;
  /** How the client proves who it is; by default `basic` with a secret, else `none`. */
  readonly clientAuth?: "basic" | "post" | "none";
  readonly scopes?: readonly string[];
  readonly audience?: string;
  readonly resource?: string;
  /** Further parameters of the authorization. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** The local port to which the browser returns. */
  readonly callbackPort?: number;
}

/** Options of runs. */
export interface RunRecordOptions {
  /** The runs that are recorded: those with an effect or a question to a person (`effects`, the default), all, or none. */
  readonly record?: "off" | "effects" | "full";
  /** Passes after which a skill that was saved from a run is not marked as saved any more; 3 by default. */
  readonly savedPasses?: number;
  /**
   * Makes a call of a read-only method once more after a transient failure, such as HTTP 503 or a lost connection, within the time
   * limits of the call and the run. On by default.
   */
  readonly retryReads?: boolean;
}

/** Options of approvals. */
export interface ApprovalOptions {
  /** Seconds after which a run that waits for an answer gives its memory back, and says that it waits; 25 by default. */
  readonly holdSeconds?: number;
  /** Whether destructive methods ask before each call, unless a row of the policy decides; `allow` by default. */
  readonly destructive?: "allow" | "ask";
  /**
   * Makes calls wait for an answer of `runtime.approvals`, the command line or HTTP; with `"programs"` only those of recorded
   * programs. Off by default.
   */
  readonly wait?: ApprovalWait;
  /** The time after which a question and an unused yes expire; an hour by default. */
  readonly expireSeconds?: number;
}

/** One line for the log; `path` is the method that says it, where a call does. */
export type LogListener = (level: LogLevel, text: string, path?: string) => void;
