import { randomBytes } from "node:crypto";

import { getMessage } from "../../errors.ts";
import { quote } from "../../shared/format-text.ts";
import type { AddedDelivery } from "../../store/index.ts";
import type { RunInput } from "../../shared/json/run-input.ts";
import type { Webhook } from "./parse-webhook.ts";
import type { ReceivedRequest, ReceiveDelivery } from "./receive.ts";
import { createRefusalLog, type WebhookRefusal } from "./refusal-log.ts";
import { SERVICES } from "./services.ts";
import { verifyDelivery } from "./verify-delivery.ts";

/** The webhook of an automation with the values of its secrets. */
export interface OpenWebhook extends Pick<Webhook, "schemes"> {
  readonly automation: string;
  readonly secrets: readonly string[];
}

/** A delivery that is to be stored. */
export interface NewDelivery {
  readonly automation: string;
  readonly delivery: string;
  readonly input: RunInput;
}

export interface ReceiverParts {
  /** Returns the webhook with an id. It takes the same time for an unknown id. */
  readonly find: (id: string) => Promise<OpenWebhook | undefined>;
  /** Commits a delivery. Rejects if the store cannot. */
  readonly store: (delivery: NewDelivery) => Promise<AddedDelivery>;
  readonly log: (level: "info" | "warn", text: string) => void;
  readonly now: () => number;
}

export interface WebhookReceiver {
  readonly receive: ReceiveDelivery;
  /** Returns the requests that were refused since this process has started; `undefined` if there are none. */
  readonly getRefusal: (automation: string) => WebhookRefusal | undefined;
}

/** Stands for a webhook that does not exist, so that its id is not found out by the time of an answer. */
const DECOY: Pick<OpenWebhook, "schemes" | "secrets"> = {
  schemes: SERVICES.github,
  secrets: [randomBytes(32).toString("hex")],
};

/** Creates the function that verifies requests to webhooks and stores the deliveries. */
export function createWebhookReceiver({ find, store, log, now }: ReceiverParts): WebhookReceiver {
  const refusals = createRefusalLog((text) => log("warn", text), now);

  function refuseUnknown(id: string, address: string): { readonly kind: "refused" } {
    refusals.add(undefined, { id, address, why: "no automation has this webhook" });
    return { kind: "refused" };
  }

  async function receive(id: string, { headers, body, address }: ReceivedRequest): ReturnType<ReceiveDelivery> {
    const webhook = await find(id);
    const verified = verifyDelivery(webhook ?? DECOY, (webhook ?? DECOY).secrets, { headers, body, now: now() });
    if (webhook === undefined) return refuseUnknown(id, address);
    const { automation } = webhook;
    switch (verified.kind) {
      case "unverified":
        refusals.add(automation, { id, address, why: verified.why });
        return { kind: "refused" };
      case "unreadable":
        refusals.add(automation, { id, address, why: verified.why });
        return verified;
      case "test":
        return verified;
      case "delivery": {
        const { delivery, input } = verified;
        const result = await store({ automation, delivery, input });
        if (result === "full") return { kind: "full" };
        if (result === "unknown") return refuseUnknown(id, address);
        return { kind: "stored", delivery, isRepeated: result === "repeated" };
      }
    }
  }

  return {
    async receive(id, request) {
      try {
        return await receive(id, request);
      } catch (error) {
        log("warn", `A delivery to the webhook ${quote(id, 64)} cannot be stored: ${getMessage(error)}`);
        return { kind: "unavailable" };
      }
    },
    getRefusal: refusals.get,
  };
}
