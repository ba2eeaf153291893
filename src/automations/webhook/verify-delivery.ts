import { randomUUID } from "node:crypto";

import { SkillgateError } from "../../errors.ts";
import { createRunInput, type RunInput } from "../../shared/json/run-input.ts";
import { type DeliveryHeaders, DeliveryFlaw, findHeader } from "./delivery-flaw.ts";
import type { Webhook } from "./parse-webhook.ts";
import { type DeliveryInput, findText, parseDeliveryBody, selectDeliveryHeaders } from "./payload.ts";
import type { FactSource, HmacScheme, Scheme } from "./scheme.ts";
import {
  collectSigned,
  digestSigned,
  isDeliveryId,
  isTight,
  requireSignature,
  requireToken,
  type SignedDelivery,
} from "./signature.ts";

/** A request to a webhook. */
export interface DeliveryRequest {
  readonly headers: DeliveryHeaders;
  readonly body: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The result of the verification of a request. */
export type VerifiedDelivery =
  | { readonly kind: "delivery"; readonly delivery: string; readonly input: RunInput }
  /** The service only tests the webhook: the JSON that answers it. */
  | { readonly kind: "test"; readonly answer: string }
  /** It does not prove who sent it. The sender must not learn why. */
  | { readonly kind: "unverified"; readonly why: string }
  /** The sender is known, and the body cannot be used. */
  | { readonly kind: "unreadable"; readonly why: string };

/** Seconds by which the clock of a service may differ from ours, as Stripe, Slack and Standard Webhooks have it. */
const TOLERANCE_SECONDS = 300;

/** Verifies a request with the values of the secrets. Each of them may have signed it. Never throws. */
export function verifyDelivery(
  { schemes }: Pick<Webhook, "schemes">,
  secrets: readonly string[],
  request: DeliveryRequest,
): VerifiedDelivery {
  const scheme = schemes.find(({ header }) => Object.hasOwn(request.headers, header)) ?? schemes[0];
  try {
    return verify(scheme, secrets, request);
  } catch (error) {
    if (error instanceof DeliveryFlaw) return { kind: error.kind, why: error.message };
    throw error;
  }
}

function verify(scheme: Scheme, secrets: readonly string[], request: DeliveryRequest): VerifiedDelivery {
  const signed = requireSender(scheme, secrets, request);
  const { headers, now } = request;
  const { value: body, signedJson } = parseDeliveryBody(request.body, headers, scheme.formField);
  if (scheme.type === "hmac") {
    if (isTight(scheme) && signedJson === undefined)
      throw new DeliveryFlaw("unverified", "its body is not JSON, and nothing separates it from what else is signed");
    requireTime(scheme, signed?.timestamp, signedJson, now);
  }
  const event = scheme.event.map((source) => findFact(source, headers, body)).find((each) => each !== undefined);
  const answer = scheme.findAnswer?.(body, event);
  if (answer !== undefined) return { kind: "test", answer };
  const delivery = findDeliveryId(scheme, signed, { headers, signedJson });
  const input: DeliveryInput = {
    body,
    headers: selectDeliveryHeaders(headers, scheme.shownHeaders),
    ...(event !== undefined && { event: event.slice(0, MAX_EVENT_UNITS) }),
    delivery,
    receivedAt: new Date(now).toISOString(),
  };
  return { kind: "delivery", delivery, input: toRunInput(input) };
}

/** The run must not fail later because of a body that no run can have. */
function toRunInput(input: DeliveryInput): RunInput {
  try {
    return createRunInput(input, true);
  } catch (error) {
    if (error instanceof SkillgateError) throw new DeliveryFlaw("unreadable", error.message);
    throw error;
  }
}

const MAX_EVENT_UNITS = 200;

/** Returns what the sender has signed; `undefined` for a token. */
function requireSender(
  scheme: Scheme,
  secrets: readonly string[],
  { headers, body }: DeliveryRequest,
): SignedDelivery | undefined {
  if (scheme.type === "token") {
    requireToken(scheme, secrets, headers);
    return undefined;
  }
  const signed = collectSigned(scheme, headers, body);
  requireSignature(scheme, secrets, headers, signed);
  return signed;
}

/** A signed time ends the use of a delivery that someone has copied. */
function requireTime(scheme: HmacScheme, sent: string | undefined, body: unknown, now: number): void {
  if (scheme.timestamp === undefined) return;
  const text = scheme.timestamp.in === "body" ? findText(body, scheme.timestamp.path) : sent;
  const time = parseTime(text ?? "");
  if (time === undefined)
    throw new DeliveryFlaw(
      "unverified",
      "its time is not in seconds or milliseconds since 1970, nor in ISO 8601 with Z",
    );
  const seconds = Math.round((now - time) / 1_000);
  if (Math.abs(now - time) <= TOLERANCE_SECONDS * 1_000) return;
  const when = seconds > 0 ? `${seconds} s old` : `${-seconds} s in the future`;
  throw new DeliveryFlaw(
    "unverified",
    `it is ${when}, and the tolerance is ${TOLERANCE_SECONDS} s: it was repeated, or one of the clocks is wrong`,
  );
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Returns milliseconds since 1970; `undefined` for a text in another form. */
function parseTime(text: string): number | undefined {
  if (/^\d{10}$/.test(text)) return Number(text) * 1_000;
  if (/^\d{13}$/.test(text)) return Number(text);
  const time = ISO_TIME.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Returns the id by which a repeated delivery is recognized: only one that is signed, else the digest of what is signed. A token
 * covers the whole request, and so its headers; without an id there, each request is a delivery of its own.
 */
function findDeliveryId(
  scheme: Scheme,
  signed: SignedDelivery | undefined,
  delivery: { readonly headers: DeliveryHeaders; readonly signedJson: unknown },
): string {
  const id = signed?.id ?? (scheme.id && findFact(scheme.id, delivery.headers, delivery.signedJson));
  if (id !== undefined && isDeliveryId(id)) return id;
  if (id !== undefined) return digestSigned({ parts: [id] });
  return signed === undefined ? randomUUID() : digestSigned(signed);
}

function findFact(source: FactSource, headers: DeliveryHeaders, body: unknown): string | undefined {
  if (source.in === "header") return findHeader(headers, source.name);
  return source.in === "body" ? findText(body, source.path) : undefined;
}
