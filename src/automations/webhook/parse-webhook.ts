import { isRecord, type JsonSchema } from "../../model/json.ts";
import { findSettingMistakes, withForm } from "../../shared/settings/check-settings.ts";
import { describeUnknownName } from "../../shared/suggest.ts";
import { parseScheme, SCHEME_SETTINGS, type SchemeSettings } from "./parse-scheme.ts";
import type { Scheme } from "./scheme.ts";
import { SERVICE_NAMES, type ServiceName, SERVICES } from "./services.ts";

/** The webhook of an automation. */
export interface Webhook {
  /** The last part of its URL; the name of the automation by default. */
  readonly id?: string;
  /** The ways to verify a delivery; its headers decide which one is used. */
  readonly schemes: readonly [Scheme, ...Scheme[]];
  /** References to the secrets, any of which may have signed a delivery: `${NAME}` or `${cmd:…}`. */
  readonly secrets: readonly string[];
}

const MAX_SECRETS = 5;

/** The section `webhook` of the file of an automation. */
export const WEBHOOK_SCHEMA: JsonSchema = {
  type: "object",
  description: "Runs the automation for each delivery to `POST /hooks/ID`.",
  additionalProperties: false,
  required: ["verify", "secrets"],
  properties: {
    verify: withForm("github, stripe, slack, standard, token, or a section with type: hmac or type: token", {
      anyOf: [{ enum: SERVICE_NAMES }, SCHEME_SETTINGS],
      description: "how a delivery proves who sent it",
    }),
    secrets: withForm('a list of 1 to 5 references, as in secrets: ["${HOOK_SECRET}"]', {
      type: "array",
      items: { type: "string" },
      minItems: 1,
      maxItems: MAX_SECRETS,
      description: "references to the secrets that the service may sign with; several while one replaces another",
    }),
    id: withForm("a text of letters, digits, - and _, at most 64", {
      type: "string",
      pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$",
      description: "the last part of the URL; the name of the automation by default",
    }),
  },
};

/** Parses the section `webhook`. Throws what `fail` makes of a mistake. */
export function parseWebhook(value: unknown, fail: (why: string) => Error): Webhook {
  if (isRecord(value) && typeof value["verify"] === "string" && !isServiceName(value["verify"]))
    throw fail(describeUnknownService(value["verify"]));
  const [mistake] = findSettingMistakes(WEBHOOK_SCHEMA, value, ["webhook"]);
  if (mistake !== undefined) throw fail(mistake.error);
  const { verify, secrets, id } = value as WebhookSettings; // the schema has checked it
  secrets.forEach((secret, at) => requireReference(secret, at, fail));
  const schemes = typeof verify === "string" ? SERVICES[verify] : ([parseScheme(verify, fail)] as const);
  return { schemes, secrets, ...(id !== undefined && { id }) };
}

interface WebhookSettings {
  readonly verify: ServiceName | SchemeSettings;
  readonly secrets: readonly string[];
  readonly id?: string;
}

function isServiceName(name: string): name is ServiceName {
  return Object.hasOwn(SERVICES, name);
}

function describeUnknownService(name: string): string {
  const otherwise = "for another service, write a section with type: hmac";
  return `webhook.verify has the ${describeUnknownName("service", name, SERVICE_NAMES, { otherwise }).message.replace(/^U/, "u")}`;
}

/** A whole reference: a part of a secret or a default would be in the file. */
const REFERENCE = /^\$\{(?:(?:env:)?[A-Za-z_][A-Za-z0-9_]{0,200}|cmd:[^{}]{1,1000})\}$/;

/** The message does not have the text: it may be the secret. */
function requireReference(secret: string, at: number, fail: (why: string) => Error): void {
  if (REFERENCE.test(secret)) return;
  const example =
    'write a reference to a variable, as in secrets: ["${HOOK_SECRET}"], or to a command, as in ${cmd:pass show hook}';
  const flaw = /\$\{[^}]*:-/.test(secret)
    ? "has a default"
    : secret.includes("${")
      ? "is more than a reference"
      : "is a plain text";
  throw fail(`webhook.secrets[${at}] ${flaw}, and a secret must not be in the file: ${example}`);
}
