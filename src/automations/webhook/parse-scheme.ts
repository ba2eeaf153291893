import { validateHeaderName } from "node:http";

import type { JsonSchema } from "../../model/json.ts";
import { formatChoices, quote } from "../../shared/format-text.ts";
import { withForm } from "../../shared/settings/check-settings.ts";
import {
  type FactSource,
  fromBody,
  fromHeader,
  HMAC_ALGORITHMS,
  type HmacAlgorithm,
  parseSignedText,
  type Scheme,
  SIGNATURE_SEPARATOR,
  SIGNED_FIELDS,
  type SignedPart,
} from "./scheme.ts";
import { listHeaders } from "./services.ts";

/** The settings of a scheme, which `SCHEME_SETTINGS` has checked. */
export interface SchemeSettings {
  readonly type: "hmac" | "token";
  readonly header: string;
  readonly algorithm?: HmacAlgorithm;
  readonly encoding?: "hex" | "base64";
  readonly prefix?: string;
  readonly signed?: string;
  readonly timestampHeader?: string;
  readonly timestampPrefix?: string;
  readonly timestampField?: string;
  readonly idHeader?: string;
  readonly idField?: string;
  readonly eventHeader?: string;
  readonly eventField?: string;
}

const HEADER = { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" } as const;
const PATH = { type: "string", pattern: "^[^.]{1,100}(\\.[^.]{1,100}){0,4}$" } as const;
const PREFIX = { type: "string", pattern: "^[!-~]{1,40} ?$" } as const;

export const SCHEME_SETTINGS: JsonSchema = {
  type: "object",
  additionalProperties: false,
  required: ["type", "header"],
  properties: {
    type: { enum: ["hmac", "token"], description: "a signature with a shared secret, or the secret itself" },
    header: describeHeader("the header with the signature, or with the token"),
    algorithm: { enum: Object.keys(HMAC_ALGORITHMS), default: "sha256", description: "hmac: the hash function" },
    encoding: { enum: ["hex", "base64"], default: "hex", description: "hmac: the form of the signature" },
    prefix: describeText(
      "the text before each signature or before the token, such as `sha256=`",
      PREFIX,
      "at most 40 visible characters",
    ),
    signed: describeText(
      "hmac: what is signed; `{body}` by default",
      { type: "string", pattern: "^.{1,200}$" },
      'a pattern with {body}, {timestamp} and {id}, such as "{timestamp}.{body}"',
    ),
    timestampHeader: describeHeader("hmac: the header with the signed time"),
    timestampPrefix: describeText(
      "hmac: the text before the time, where the header of the signature has it",
      PREFIX,
      "at most 40 visible characters",
    ),
    timestampField: describePath("hmac: the field of the JSON body with the time"),
    idHeader: describeHeader("the header with the id of the delivery, which hmac must sign"),
    idField: describePath("the field of the JSON body with the id of the delivery"),
    eventHeader: describeHeader("the header with the kind of the event"),
    eventField: describePath("the field of the JSON body with the kind of the event"),
  },
};

function describeText(description: string, schema: JsonSchema, form: string): JsonSchema {
  return withForm(form, { ...schema, description });
}

function describeHeader(description: string): JsonSchema {
  return describeText(description, HEADER, "the name of a header, such as X-Shop-Signature");
}

function describePath(description: string): JsonSchema {
  return describeText(description, PATH, "the name of a field, or up to five with dots between, such as event.id");
}

type Fail = (why: string) => Error;

/** Creates the scheme of a section `verify`. Throws what `fail` makes of settings that do not fit together. */
export function parseScheme(settings: SchemeSettings, fail: Fail): Scheme {
  const refuse = (why: string): Error => fail(`webhook.verify${why}`);
  for (const name of ["timestamp", "id", "event"] as const) requireOneSource(settings, name, refuse);
  requireHeaderNames(settings, refuse);
  const id = findSource(settings.idHeader, settings.idField);
  const event = findSource(settings.eventHeader, settings.eventField);
  const timestamp = findSource(settings.timestampHeader, settings.timestampField, settings.timestampPrefix);
  const common = {
    header: settings.header.toLowerCase(),
    prefix: settings.prefix ?? "",
    ...(id !== undefined && { id }),
    event: event === undefined ? [] : [event],
    shownHeaders: listHeaders([event, id, timestamp]),
  };
  if (settings.type === "token") {
    requireTokenSettings(settings, refuse);
    return { type: "token", ...common };
  }
  if (/[\s,;]/.test(common.prefix))
    throw refuse(".prefix must have no space, comma or semicolon: they separate signatures");
  const signed = parseSignedText(settings.signed ?? "{body}");
  requireSignedText(signed, settings.signed ?? "", refuse);
  requireSignedFacts(signed, settings, refuse);
  const { algorithm = "sha256", encoding = "hex" } = settings;
  const form = { separator: SIGNATURE_SEPARATOR, secretForm: "text" } as const;
  return {
    type: "hmac",
    algorithm,
    encoding,
    signed,
    ...form,
    ...common,
    ...(timestamp !== undefined && { timestamp }),
  };
}

function findSource(header?: string, path?: string, prefix?: string): FactSource | undefined {
  if (header !== undefined) return fromHeader(header);
  if (path !== undefined) return fromBody(path);
  return prefix === undefined ? undefined : { in: "signature", prefix };
}

function requireOneSource(settings: SchemeSettings, name: "timestamp" | "id" | "event", refuse: Fail): void {
  const names = (["Header", "Prefix", "Field"] as const)
    .map((suffix) => `${name}${suffix}`)
    .filter((key) => Object.hasOwn(settings, key));
  if (names.length > 1) throw refuse(` has ${names.join(" and ")}: write one of them`);
}

/** The schema allows what HTTP does; headers of the connection and cookies are refused. */
function requireHeaderNames(settings: SchemeSettings, refuse: Fail): void {
  for (const key of ["header", "timestampHeader", "idHeader", "eventHeader"] as const) {
    const name = settings[key];
    if (name === undefined) continue;
    validateHeaderName(name);
    const isOther = key !== "header" && name.toLowerCase() === settings.header.toLowerCase();
    if (isOther) throw refuse(`.${key} is the header of the signature: write timestampPrefix for a time in it`);
    if (FOREIGN_HEADERS.has(name.toLowerCase()) || (key !== "header" && name.toLowerCase() === "authorization"))
      throw refuse(`.${key} cannot be ${quote(name)}: write the header in which the service sends it`);
  }
}

const FOREIGN_HEADERS: ReadonlySet<string> = new Set(
  "connection content-length content-type cookie expect host proxy-authorization te transfer-encoding upgrade".split(
    " ",
  ),
);

const HMAC_SETTINGS = [
  "algorithm",
  "encoding",
  "signed",
  "timestampHeader",
  "timestampPrefix",
  "timestampField",
] as const satisfies readonly (keyof SchemeSettings)[];

function requireTokenSettings(settings: SchemeSettings, refuse: Fail): void {
  const foreign = HMAC_SETTINGS.find((key) => settings[key] !== undefined);
  if (foreign !== undefined) throw refuse(`.${foreign} is a setting of type: hmac, and the type is token`);
}

/** Requires that signed texts have one meaning: no byte may move from one field to another. */
function requireSignedText(parts: readonly SignedPart[], pattern: string, refuse: Fail): void {
  const unknown = parts.map((part) => (part.kind === "literal" ? /\{[^{}]*\}/.exec(part.text)?.[0] : undefined));
  const placeholder = unknown.find((each) => each !== undefined);
  const choices = formatChoices(SIGNED_FIELDS.map((field) => `{${field}}`));
  if (placeholder !== undefined)
    throw refuse(`.signed has the unknown field ${quote(placeholder, 60)}: use ${choices}`);
  const fields = parts.flatMap((part) => (part.kind === "field" ? [part.field] : []));
  const repeated = fields.find((field, at) => fields.indexOf(field) !== at);
  if (repeated !== undefined) throw refuse(`.signed has {${repeated}} more than once: ${quote(pattern, 60)}`);
  if (!fields.includes("body"))
    throw refuse(`.signed must have {body}, not ${quote(pattern, 60)}: else any body would pass`);
  parts.forEach((part, at) => {
    const isBetween = parts[at - 1]?.kind === "field" && parts[at + 1]?.kind === "field";
    if (part.kind === "literal" && isBetween && /^[A-Za-z0-9_-]/.test(part.text))
      throw refuse(
        `.signed has ${quote(part.text, 60)} between two fields: it must begin with a character such as . or :`,
      );
  });
}

/** A fact that is not signed could be changed by anyone who sends a delivery again. */
function requireSignedFacts(parts: readonly SignedPart[], settings: SchemeSettings, refuse: Fail): void {
  const isSigned = (field: SignedPart & { readonly kind: "field" }): boolean =>
    parts.some((part) => part.kind === "field" && part.field === field.field);
  const hasTime = isSigned({ kind: "field", field: "timestamp" });
  const hasId = isSigned({ kind: "field", field: "id" });
  const { timestampHeader, timestampPrefix, idHeader } = settings;
  if (hasTime && timestampHeader === undefined && timestampPrefix === undefined)
    throw refuse(".signed has {timestamp}: write where it is, as timestampHeader or timestampPrefix");
  if (!hasTime && (timestampHeader !== undefined || timestampPrefix !== undefined))
    throw refuse(
      ".signed must have {timestamp}: a time that is not signed proves nothing; leave the time out otherwise",
    );
  if (hasId && idHeader === undefined) throw refuse(".signed has {id}: write its header as idHeader");
  if (!hasId && idHeader !== undefined)
    throw refuse(
      ".idHeader needs {id} in signed: an id that is not signed can be changed to repeat a delivery; without an id, equal deliveries count as one",
    );
}
