import { isRecord } from "../../model/json.ts";
import {
  type FactSource,
  fromBody,
  fromHeader,
  type HmacScheme,
  parseSignedText,
  type Scheme,
  SIGNATURE_SEPARATOR,
} from "./scheme.ts";

export const SERVICE_NAMES = ["github", "stripe", "slack", "standard", "token"] as const;

export type ServiceName = (typeof SERVICE_NAMES)[number];

const HMAC = {
  type: "hmac",
  algorithm: "sha256",
  encoding: "hex",
  separator: SIGNATURE_SEPARATOR,
  secretForm: "text",
} as const;

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const GITHUB: Scheme = {
  ...HMAC,
  header: "x-hub-signature-256",
  prefix: "sha256=",
  signed: parseSignedText("{body}"),
  // X-GitHub-Delivery is not signed: a repeated request could have another one.
  event: [fromHeader("x-github-event")],
  shownHeaders: ["x-github-event", "x-github-delivery", "x-github-hook-id"],
  formField: "payload",
  findAnswer: (body, event) =>
    event === "ping" && isRecord(body) && typeof body["zen"] === "string" ? JSON.stringify({ pong: true }) : undefined,
};

/** https://docs.stripe.com/webhooks/signature */
const STRIPE: Scheme = {
  ...HMAC,
  header: "stripe-signature",
  prefix: "v1=",
  signed: parseSignedText("{timestamp}.{body}"),
  timestamp: { in: "signature", prefix: "t=" },
  id: fromBody("id"),
  event: [fromBody("type")],
  shownHeaders: [],
};

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const SLACK: Scheme = {
  ...HMAC,
  header: "x-slack-signature",
  prefix: "v0=",
  signed: parseSignedText("v0:{timestamp}:{body}"),
  timestamp: fromHeader("x-slack-request-timestamp"),
  id: fromBody("event_id"),
  event: [fromBody("event.type"), fromBody("type"), fromBody("command")],
  shownHeaders: ["x-slack-retry-num", "x-slack-retry-reason"],
  formField: "payload",
  findAnswer: (body) => {
    if (!isRecord(body) || body["type"] !== "url_verification") return undefined;
    const { challenge } = body;
    return typeof challenge === "string" ? JSON.stringify({ challenge: challenge.slice(0, MAX_CHALLENGE) }) : undefined;
  },
};

const MAX_CHALLENGE = 1_000;

/** https://www.standardwebhooks.com, with the names that Svix gave its headers before. */
function createStandard(name: "webhook" | "svix"): HmacScheme {
  const [id, timestamp] = [`${name}-id`, `${name}-timestamp`];
  return {
    ...HMAC,
    header: `${name}-signature`,
    encoding: "base64",
    prefix: "v1,",
    separator: /\s+/,
    signed: parseSignedText("{id}.{timestamp}.{body}"),
    timestamp: fromHeader(timestamp),
    id: fromHeader(id),
    event: [fromBody("type")],
    shownHeaders: [id, timestamp],
    secretForm: "whsec",
  };
}

const TOKEN: Scheme = {
  type: "token",
  header: "authorization",
  prefix: "Bearer ",
  id: fromHeader("idempotency-key"),
  event: [],
  shownHeaders: ["idempotency-key"],
};

/** The schemes of each service; more than one where it has several names for its headers. */
export const SERVICES: Readonly<Record<ServiceName, readonly [Scheme, ...Scheme[]]>> = {
  github: [GITHUB],
  stripe: [STRIPE],
  slack: [SLACK],
  standard: [createStandard("webhook"), createStandard("svix")],
  token: [TOKEN],
};

/** Lists the headers among sources of facts. */
export function listHeaders(sources: readonly (FactSource | undefined)[]): readonly string[] {
  return sources.flatMap((source) => (source?.in === "header" ? [source.name] : []));
}
