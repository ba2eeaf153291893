import type { JsonSchema } from "../model/json.ts";
import { withForm } from "../shared/settings/check-settings.ts";

export const ACCOUNT_TYPES = ["apiKey", "basic", "bearer", "oauth"] as const;

/** The settings of an account that only some types have, by type. */
export const ACCOUNT_TYPE_SETTINGS = {
  apiKey: ["in", "name", "value", "prefix"],
  basic: ["username", "password"],
  bearer: ["token"],
  oauth: [
    "grant",
    "issuer",
    "authorizationUrl",
    "tokenUrl",
    "deviceUrl",
    "revocationUrl",
    "clientId",
    "clientSecret",
    "clientAuth",
    "scopes",
    "audience",
    "resource",
    "parameters",
    "callbackPort",
  ],
} as const satisfies Readonly<Record<(typeof ACCOUNT_TYPES)[number], readonly string[]>>;

const NOT_BLANK: JsonSchema = { type: "string", pattern: "\\S" };
const TEXT_OR_LIST: JsonSchema = { anyOf: [NOT_BLANK, { type: "array", items: NOT_BLANK, minItems: 1, maxItems: 8 }] };

/** Returns the schema of the section `accounts`. */
export function describeAccounts(): JsonSchema {
  return {
    type: "object",
    description: "Accounts at services, by name. Values and secrets come from variables: `${NAME}`.",
    additionalProperties: {
      type: "object",
      additionalProperties: false,
      required: ["type"],
      properties: {
        type: { enum: [...ACCOUNT_TYPES], description: "the kind of its credential" },
        for: {
          enum: ["caller", "everyone"],
          description:
            "who has a connection; `everyone` by default if the settings have the credential, else each `caller`",
        },
        servers: {
          type: "array",
          items: NOT_BLANK,
          description: "origins that skills may send it to, as in `https://api.example.com`",
        },
        reveal: { type: "array", items: NOT_BLANK, description: "skills that may read the credential itself" },
        private: {
          type: "boolean",
          default: false,
          description: "its service may be at an address of a private network",
        },
        test: describeText("the URL of a harmless request that shows whether the credential is accepted"),
        ...describeStatic(),
        ...describeOAuth(),
      },
    },
  };
}

function describeStatic(): Readonly<Record<string, JsonSchema>> {
  return {
    in: { enum: ["header", "query", "cookie", "body"], description: "apiKey: the part of the request with the key" },
    name: withForm("a name, or a list of names", {
      ...TEXT_OR_LIST,
      description: "apiKey: the name of the header, parameter, cookie or field, or a list of names",
    }),
    value: withForm("a variable such as ${SHOP_KEY}, or a list of them", {
      ...TEXT_OR_LIST,
      description: "apiKey: the key, or a list in the order of the names; connected later without it",
    }),
    prefix: { type: "string", description: "apiKey: a text before each value, such as `Token `" },
    username: describeText("basic: the user"),
    password: describeText("basic: the password"),
    token: describeText("bearer: the token; connected later without it"),
  };
}

function describeOAuth(): Readonly<Record<string, JsonSchema>> {
  return {
    grant: {
      enum: ["code", "client", "device"],
      default: "code",
      description:
        "oauth: a person agrees in the browser (`code`) or types a code (`device`), or the client asks for itself",
    },
    issuer: describeText("oauth: the URL of the provider, whose metadata have the other URLs"),
    authorizationUrl: describeText("oauth: where a person agrees"),
    tokenUrl: describeText("oauth: where tokens are requested"),
    deviceUrl: describeText("oauth: where device codes are requested"),
    revocationUrl: describeText("oauth: where tokens are revoked"),
    clientId: describeText("oauth: the id of the client"),
    clientSecret: describeText("oauth: its secret"),
    clientAuth: {
      enum: ["basic", "post", "none"],
      description: "oauth: how the client proves who it is; `basic` by default with a secret, else `none`",
    },
    scopes: {
      type: "array",
      items: NOT_BLANK,
      description: "oauth: the scopes that are asked for; by default, those of the operations of its APIs",
    },
    audience: describeText("oauth: the audience of the tokens"),
    resource: describeText("oauth: the resource of the tokens (RFC 8707)"),
    parameters: withForm("an object of texts", {
      type: "object",
      additionalProperties: { type: "string" },
      description: "oauth: further parameters of the authorization",
    }),
    callbackPort: {
      type: "integer",
      minimum: 1,
      maximum: 65_535,
      description: "oauth: the local port to which the browser returns; any free one by default",
    },
  };
}

function describeText(description: string): JsonSchema {
  return { ...NOT_BLANK, description };
}
