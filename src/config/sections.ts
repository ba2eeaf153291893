import type { JsonSchema } from "../model/json.ts";
import { describeAccounts } from "./account-section.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "../model/timeouts.ts";
import { EXPOSES, TOOL_NAMES } from "../model/tools/exposure.ts";
import { ANY_DEVICE } from "../shared/names/method-paths.ts";
import { SOURCE_EFFECTS } from "../model/tools/source-effects.ts";
import { PAGE_ORDERS } from "../model/tools/source-pages.ts";
import { QUERY_REQUESTS } from "../model/tools/source-requests.ts";
import { DEFAULT_RETENTION } from "../store/index.ts";
import { CHANGE_POLICIES } from "../shared/changes/definition-changes.ts";
import { withForm } from "../shared/settings/check-settings.ts";

export const MCP_STARTS = ["at once", "when needed"] as const;

const LIMIT_MEANINGS: Readonly<Record<keyof Limits, string>> = {
  cpuMs: "milliseconds of computing in a run, without waiting for calls",
  wallMs: "milliseconds of a run from start to end",
  memoryBytes: "the heap of the isolate",
  calls: "calls in one run",
  callsInFlight: "concurrent calls of a run; further ones wait",
  outputBytes: "printed text; longer text is cut visibly",
  resultBytes: "the result of a run; a longer one is cut visibly",
  answerTokens: "the result in the text for a model",
  sourceBytes: "the text of a program",
  argumentBytes: "the arguments of one call",
  answerBytes: "the result of one call",
};

const TIMEOUT_MEANINGS: Readonly<Record<keyof Timeouts, string>> = {
  validationMs: "milliseconds for validating the arguments of a call",
  discoveryMs: "milliseconds for one search or description",
  lockMs: "milliseconds for waiting for another process that writes to the store",
  connectMs: "milliseconds for connecting to an MCP server",
};

const TEXT: JsonSchema = { type: "string", minLength: 1 };
const TEXTS: JsonSchema = { type: "array", items: { type: "string" } };
const DAYS: JsonSchema = { type: "integer", minimum: 1 };
const DESTRUCTIVE = withForm("allow or ask; destructive methods ask until then", { enum: ["allow", "ask"] });
const RECORD = withForm("off, effects or full", { enum: ["off", "effects", "full", false] });

const NOT_BLANK: JsonSchema = { type: "string", pattern: "\\S" };
/** An address may come from a variable: `${NATS_URL}`. */
const ADDRESS: JsonSchema = { type: "string", pattern: "^\\S+$" };
const PATTERNS: JsonSchema = { type: "array", items: NOT_BLANK };

const NETWORK: Readonly<Record<string, JsonSchema>> = {
  url: described("an address such as nats://host:4222, or a list of them", {
    anyOf: [ADDRESS, { type: "array", items: ADDRESS, minItems: 1 }],
  }),
  credentials: described("a file of NATS credentials", NOT_BLANK),
  name: described(`a name with a letter or a digit, and not ${ANY_DEVICE}, which stands for all machines`, NOT_BLANK),
  key: described("a file with a private key", NOT_BLANK),
  peers: described("a section of public keys by device name", { type: "object", additionalProperties: NOT_BLANK }),
  silenceSeconds: described("a number of seconds above 0", {
    type: "number",
    exclusiveMinimum: 0,
    maximum: 3_600,
    default: 15,
  }),
};

/**
 * The sections of settings.yaml that the runtime reads, as JSON Schemas by name: the checks of the sections, their defaults, the
 * schema for editors and the page docs/configuration.md all come from this table.
 */
export const RUNTIME_SECTION_SCHEMAS = {
  skills: describeSkills(),
  mcp: section("MCP servers, and how they start.", {
    servers: { ...describeServers(), description: "the servers, as a list or by name" },
    enabled: { type: "boolean", default: true, description: "false disables all servers, also those of other files" },
    inputs: {
      type: "array",
      items: { type: "object" },
      description: "values that a person is asked for, as in VS Code",
    },
    start: { enum: [...MCP_STARTS], description: "when servers start; `when needed` for commands that end at once" },
    idle: {
      type: "number",
      exclusiveMinimum: 0,
      description: "seconds without a call after which a server is stopped",
    },
    changes: {
      enum: [...CHANGE_POLICIES],
      default: "report",
      description: "what happens to a tool whose definition changed",
    },
  }),
  mcpServers: { ...describeServers(), description: "MCP servers by name, as in `.mcp.json`." },
  sources: describeSources(),
  accounts: describeAccounts(),
  alerts: withForm(
    "a section, as in alerts: { url: https://example.com/hook, secret: ${ALERT_SECRET} }",
    section(
      "Signed messages (Standard Webhooks) about what a person should know, such as an account that must be connected again.",
      {
        url: { ...TEXT, description: "the address that gets them" },
        secret: {
          ...TEXT,
          description: "the secret that signs them: a variable with `whsec_` and 24 to 64 bytes in base64",
        },
        private: { type: "boolean", default: false, description: "whether the address may be in a private network" },
      },
    ),
  ),
  limits: withForm(
    "a section, as in limits: { cpuMs: 1000 }",
    section("Limits of one run.", describeNumbers(DEFAULT_LIMITS, LIMIT_MEANINGS)),
  ),
  timeouts: withForm(
    "a section, as in timeouts: { lockMs: 1000 }",
    section("Timeouts outside of runs.", describeNumbers(DEFAULT_TIMEOUTS, TIMEOUT_MEANINGS)),
  ),
  typecheck: withForm("true or false; on, off, yes and no are texts in YAML 1.2", {
    type: "boolean",
    default: true,
    description: "Checks the types of programs before they run.",
  }),
  observe: withForm("true, false, or have requests and results, each true or false", {
    ...section("What is observed of use; `false` disables both.", {
      requests: {
        type: "boolean",
        default: true,
        description: "the words of a search find the method that was called",
      },
      results: { type: "boolean", default: true, description: "types of results of methods that do not declare them" },
    }),
    type: ["object", "boolean"],
  }),
  catalogTokens: {
    type: "integer",
    minimum: 0,
    maximum: 100_000,
    default: 2_500,
    description: "Tokens of the catalog in the system prompt.",
  },
  store: withForm(
    "a section, as in store: { dir: folder }",
    section("Where keys, approvals, runs and the audit log are stored.", {
      dir: { ...TEXT, description: "the folder of the store; in memory without it and without `url`" },
      url: { ...TEXT, description: "the address of a PostgreSQL database" },
      accountKey: withForm("a variable such as ${ACCOUNT_KEY}, or a command such as ${cmd:op read op://vault/key}", {
        type: "string",
        pattern: "^\\$\\{[^{}]+\\}$",
        description: "the key that encrypts the credentials of accounts, from a variable or a command",
      }),
      keep: section("how long records are kept", {
        auditDays: { ...DAYS, default: DEFAULT_RETENTION.auditDays, description: "days for records of the audit log" },
        approvalDays: { ...DAYS, default: DEFAULT_RETENTION.approvalDays, description: "days for answered questions" },
        runDays: { ...DAYS, default: DEFAULT_RETENTION.runDays, description: "days for recorded runs" },
      }),
    }),
  ),
  audit: withForm("off or store", {
    enum: ["off", "store", false],
    description: "Whether calls are recorded in the audit log.",
  }),
  trust: withForm("content or changes", {
    enum: ["content", "changes"],
    default: "changes",
    description: "What is held of a trusted project: each change of its files, or changes that came from elsewhere.",
  }),
  approvals: orShort("Calls that wait for a person; a text is the value of `destructive`.", DESTRUCTIVE, {
    destructive: {
      ...DESTRUCTIVE,
      default: "allow",
      description: "whether methods that declare themselves destructive wait for a person",
    },
    expireSeconds: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 30 * 24 * 3_600,
      default: 3_600,
      description: "seconds for which a question can be answered",
    },
    holdSeconds: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 25,
      description: "seconds for which a waiting run keeps its memory",
    },
  }),
  runs: orShort("The records of runs; a text is the value of `record`.", RECORD, {
    record: {
      ...RECORD,
      default: "effects",
      description: "the runs that are recorded: none, those that can have an effect, or all",
    },
    savedPasses: {
      type: "integer",
      minimum: 1,
      maximum: 1_000,
      default: 3,
      description: "passes after which a saved skill is not marked as saved any more",
    },
    retryReads: {
      type: "boolean",
      default: true,
      description: "makes a call of a read-only method once more after a transient failure, such as HTTP 503",
    },
  }),
  secrets: section("Secrets in results.", {
    rehydrate: {
      type: "boolean",
      default: false,
      description:
        "whether any method receives the value of a placeholder, not only those of the skill that returned the secret",
    },
  }),
  automations: section("Programs that run by themselves.", {
    proposals: {
      type: "boolean",
      default: false,
      description: "whether models can propose automations, which a person accepts or removes",
    },
  }),
  profiles: describeProfiles(),
  nodes: section("Skills of other machines over NATS.", {
    ...NETWORK,
    offer: described("a list of patterns such as MusicSkill.*", PATTERNS),
    scopes: described("a list of scopes", { ...PATTERNS, default: [] }),
  }),
  executors: section("Programs that executors on other machines run.", {
    ...NETWORK,
    concurrency: described("a whole number of runs from 1 to 10000", {
      type: "integer",
      minimum: 1,
      maximum: 10_000,
      default: 1_000,
    }),
  }),
} satisfies Readonly<Record<string, JsonSchema>>;

/** The schema of a section whose settings are these. */
function section(description: string, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: "object", description, additionalProperties: false, properties };
}

/** A section that can also be the value of its most important setting. */
function orShort(description: string, value: JsonSchema, properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const { enum: choices, ...form } = value;
  return {
    ...form,
    description,
    anyOf: [{ type: "object", additionalProperties: false, properties }, { enum: choices }],
  };
}

function describeNumbers<Numbers extends object>(
  defaults: Numbers,
  meanings: Readonly<Record<keyof Numbers, string>>,
): Readonly<Record<string, JsonSchema>> {
  const names = Object.keys(defaults) as (keyof Numbers & string)[];
  return Object.fromEntries(
    names.map((name) => [name, { type: "integer", minimum: 1, default: defaults[name], description: meanings[name] }]),
  );
}

/** A setting whose meaning is what it must be. */
function described(form: string, schema: JsonSchema): JsonSchema {
  return withForm(form, { description: form, ...schema });
}

function describeSkills(): JsonSchema {
  const skill: JsonSchema = {
    type: "object",
    description: "settings of a skill, by the name of its class",
    properties: {
      enabled: { type: "boolean", default: true, description: "false hides the skill and refuses its calls" },
      isolation: { enum: ["process"], description: "`process` gives the skill a process of its own" },
    },
  };
  const dir: JsonSchema = { ...TEXT, default: "skills", description: "the folder of skills" };
  const env: JsonSchema = { ...TEXTS, description: "names of variables that skills get, from the environment or .env" };
  return {
    type: ["object", "string"],
    description: "The folder of skills, and settings of skills; a text is the folder.",
    properties: { dir, env },
    additionalProperties: skill,
  };
}

function describeServers(): JsonSchema {
  const texts: JsonSchema = { type: "object", additionalProperties: { type: ["string", "number", "boolean"] } };
  const entry: JsonSchema = {
    type: "object",
    properties: {
      command: { description: "the program to start" },
      args: { type: ["array", "string"], description: "the arguments of the program" },
      env: { ...texts, description: "variables of the program" },
      cwd: { type: "string", description: "the working directory" },
      envFile: { type: "string", description: "a file of variables" },
      url: { type: "string", description: "the address of a server" },
      type: { type: "string", description: "stdio, http or sse; derived from the other keys by default" },
      headers: { ...texts, description: "HTTP headers" },
      oauth: describeLogin(),
      enabled: { type: "boolean", default: true, description: "false disables the server" },
      timeout: { type: "number", exclusiveMinimum: 0, description: "seconds for one call" },
      description: { type: "string", description: "the description of the skill" },
      skillName: { type: "string", description: "the name of the skill" },
      enabledTools: { ...TEXTS, description: "the tools that are offered" },
      disabledTools: { ...TEXTS, description: "the tools that are not offered" },
      text: { type: ["string", "object"], description: "json or text, also by the name of a tool" },
      protocol: { enum: ["auto", "legacy", "modern"], default: "auto", description: "the generation of the protocol" },
    },
  };
  const listEntry: JsonSchema = { ...entry, required: ["name"] };
  return {
    anyOf: [{ type: "object", additionalProperties: entry }, { type: "array", items: listEntry }, { type: "null" }],
  };
}

function describeLogin(): JsonSchema {
  const client: Readonly<Record<string, JsonSchema>> = {
    clientId: { type: "string", description: "the id of a registered client" },
    clientSecret: { type: "string", description: "its secret" },
    privateKey: { type: "string", description: "PEM, signs a JWT in place of the secret" },
    algorithm: { type: "string", default: "ES256", description: "the algorithm of the private key" },
    scope: { type: "string", description: "separated by spaces" },
  };
  return {
    type: ["object", "boolean"],
    description: "the login to the server; `false` for none",
    properties: {
      ...client,
      issuer: { type: "string", description: "the only authorization server to which the client is sent" },
      grant: {
        enum: ["authorization_code", "client_credentials", "jwt_bearer"],
        description: "how tokens are requested",
      },
      assertion: { type: "string", description: "with jwt_bearer, a JWT of the platform" },
      identityProvider: {
        type: "object",
        description: "the provider at which the user logs in once for all servers of a company",
        required: ["issuer", "clientId"],
        properties: {
          ...client,
          issuer: { type: "string", description: "the issuer of ID tokens" },
          tokenEndpoint: { type: "string", description: "where ID tokens are exchanged; from its metadata by default" },
          idToken: { type: "string", description: "an ID token; by default, the user logs in" },
        },
      },
      dpop: { type: "boolean", description: "tokens are bound to a key; by default, if the server asks for it" },
      clientMetadataUrl: { type: "string", description: "the address of a client metadata document" },
      callbackPort: { type: "number", exclusiveMinimum: 0, description: "the local port to which the browser returns" },
      allowPrivate: { type: "boolean", description: "the server may name addresses of a private network" },
    },
  };
}

function describeSources(): JsonSchema {
  const effects = withForm('effects by pattern, as in { "POST /search/*": read }', {
    type: "object",
    additionalProperties: { enum: [...SOURCE_EFFECTS] },
    description: "what operations do, where their verb does not say it; the last pattern that matches decides",
  });
  return {
    type: "object",
    description: "APIs whose OpenAPI documents or GraphQL schemas become skills, by name.",
    additionalProperties: withForm("a section with openapi or graphql, as in { openapi: ./api.yaml }", {
      type: "object",
      additionalProperties: false,
      anyOf: [{ required: ["openapi"] }, { required: ["graphql"] }],
      properties: {
        openapi: describeText("the URL or the file of its OpenAPI document"),
        graphql: describeText("the endpoint of a GraphQL API, to which all its requests go"),
        schema: describeText(
          "the URL or the file of the schema of a GraphQL API: SDL, or a saved introspection; by default, the endpoint describes it",
        ),
        skill: describeText(
          "the name of its skill; by default, `GithubAPI` for the name `github`, or `GithubGraph` for a GraphQL API",
        ),
        server: describeText("the base URL of its requests; by default, the first server of the document"),
        servers: {
          type: "array",
          items: { type: "string" },
          description:
            "further servers, where operations of the document have their own; headers are sent to them, too",
        },
        headers: {
          type: "object",
          additionalProperties: { type: "string" },
          description: "headers of all its requests, such as `Authorization: Bearer ${TOKEN}`",
        },
        account: withForm('a name, or names by pattern, as in { "*": github, "/admin/*": admin }', {
          anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "string" } }],
          description:
            "the account with whose credential its requests are made, or accounts by pattern; the last pattern that matches decides",
        }),
        private: { type: "boolean", default: false, description: "it may be at an address of a private network" },
        include: describePatterns(
          'the operations that become methods, as in ["GET *", "/repos/*", "issues_*"], or the root fields of a GraphQL API that are offered, as in ["query:*", "createIssue"]',
        ),
        exclude: describePatterns("the operations that do not"),
        effects,
        methods: {
          type: "object",
          description: "names, titles and descriptions in place of those of methods, by the names of the document",
        },
        refresh: withForm("never, or a time such as 30m, 24h or 7d", {
          type: "string",
          pattern: "^(?:never|[1-9]\\d{0,3}[mhd])$",
          default: "never",
          description: "when a document at a URL is read again, in the background",
        }),
        patch: describeText("a file with a JSON patch (RFC 6902), which changes the document before it is read"),
        changes: {
          enum: [...CHANGE_POLICIES],
          default: "report",
          description: "what happens to operations that were changed or added since they were accepted",
        },
        pages: describePages(),
        requests: describeRequests(),
        idempotencyHeader: describeText("the header that makes a repeated request harmless, such as `Idempotency-Key`"),
      },
    }),
  };
}

function describeRequests(): JsonSchema {
  return {
    enum: [...QUERY_REQUESTS],
    default: "post",
    description:
      "how queries of a GraphQL API are sent: in a body, in the address, or by their digests to a server that stores their texts",
  };
}

function describePages(): JsonSchema {
  return withForm('pages by pattern, as in { "GET /orders": { by: cursor, at: meta.next, argument: after } }', {
    type: "object",
    additionalProperties: withForm("false, or have by, argument, at and items", {
      anyOf: [
        {
          type: "object",
          additionalProperties: false,
          required: ["by"],
          properties: {
            by: { enum: [...PAGE_ORDERS], description: "what leads to the next page" },
            argument: describeText("the argument that the next page changes"),
            at: describeText("the member of the body with the cursor, or with the flag that there is more"),
            items: {
              type: "string",
              description: "the member of the body with the list; empty if the body is the list",
            },
          },
        },
        { const: false },
      ],
    }),
    description: "how the pages of lists follow each other, where the document does not say it",
  });
}

function describeProfiles(): JsonSchema {
  return {
    type: "object",
    description: "Named subsets of the methods, which clients select: `/mcp/NAME`, `serve --stdio --profile NAME`.",
    additionalProperties: {
      type: "object",
      additionalProperties: false,
      properties: {
        permissions: withForm('a list of permissions, as in ["call:NotesSkill.*", "see:MailSkill.*"]', {
          type: "array",
          items: NOT_BLANK,
          minItems: 1,
          description: "the methods that clients call and see in it, in the notation of keys",
        }),
        methods: describePatterns("the methods to call, in the words of earlier versions", { minItems: 1 }),
        except: describePatterns("the methods that it leaves out"),
        tools: {
          type: "object",
          description: "new names and texts of methods, by their paths",
          additionalProperties: {
            type: "object",
            additionalProperties: false,
            properties: {
              name: describeText("the name of the method in the profile"),
              title: describeText("its title as a tool"),
              description: describeText("its description; the titles of its server are left out as well"),
            },
          },
        },
        instructions: {
          type: "string",
          maxLength: 1_000,
          description: "a text for the model, before the instructions of the server",
        },
        expose: { enum: EXPOSES, description: "what clients see as tools, in place of `server.expose`" },
        names: { enum: TOOL_NAMES, description: "how methods are named as tools, in place of `server.names`" },
        budgetTokens: { type: "integer", minimum: 0, description: "replaces `server.budgetTokens`" },
      },
    },
  };
}

function describePatterns(description: string, bounds: JsonSchema = {}): JsonSchema {
  const schema: JsonSchema = { type: "array", items: NOT_BLANK, ...bounds, description };
  return withForm('a list of patterns, as in ["NotesSkill", "FilesystemMCP.read_*"]', schema);
}

function describeText(description: string): JsonSchema {
  return { ...NOT_BLANK, description };
}
