import { createHmac } from "node:crypto";

import { parseWebhook, type Webhook } from "../../../src/automations/webhook/index.ts";

export const NOW = Date.parse("2026-11-27T05:00:00Z");
export const SECONDS = String(NOW / 1_000);

export const SECRET = "the secret of the hook";
export const WHSEC = `whsec_${Buffer.from("a secret of at least 24 bytes").toString("base64")}`;

const fail = (why: string): Error => new Error(why);

export function parse(verify: unknown, others: object = {}): Webhook {
  return parseWebhook({ verify, secrets: ["${HOOK_SECRET}"], ...others }, fail);
}

export function hmac(text: string | Uint8Array, secret: string | Buffer = SECRET, algorithm = "sha256"): Buffer {
  return createHmac(algorithm, secret).update(text).digest();
}

export interface SignedDelivery<Body extends string | Uint8Array = string> {
  readonly headers: Record<string, string>;
  readonly body: Body;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Signs deliveries as their services do. */
export const signers = {
  github: <Body extends string | Uint8Array>(body: Body, secret = SECRET): SignedDelivery<Body> => ({
    headers: {
      ...JSON_TYPE,
      "x-github-event": "push",
      "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
      "x-hub-signature-256": `sha256=${hmac(body, secret).toString("hex")}`,
    },
    body,
  }),
  stripe: (body: string, secret = SECRET, seconds = SECONDS): SignedDelivery => ({
    headers: {
      ...JSON_TYPE,
      "stripe-signature": `t=${seconds},v1=${hmac(`${seconds}.${body}`, secret).toString("hex")}`,
    },
    body,
  }),
  slack: (body: string, secret = SECRET, seconds = SECONDS): SignedDelivery => ({
    headers: {
      ...JSON_TYPE,
      "x-slack-request-timestamp": seconds,
      "x-slack-signature": `v0=${hmac(`v0:${seconds}:${body}`, secret).toString("hex")}`,
    },
    body,
  }),
  standard: (body: string, secret = WHSEC, seconds = SECONDS, id = "msg_1"): SignedDelivery => {
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return {
      headers: {
        ...JSON_TYPE,
        "webhook-id": id,
        "webhook-timestamp": seconds,
        "webhook-signature": `v1,${hmac(`${id}.${seconds}.${body}`, key).toString("base64")}`,
      },
      body,
    };
  },
  token: (body: string, secret = SECRET): SignedDelivery => ({
    headers: { ...JSON_TYPE, authorization: `Bearer ${secret}` },
    body,
  }),
};
