import { createHmac, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { getMessage } from "../errors.ts";
import { isNear } from "../shared/http/addresses.ts";
import { guardedFetch } from "../shared/http/guarded-fetch.ts";

/** Where alerts are sent. */
export interface AlertSettings {
  readonly url: URL;
  /** Signs each alert. Secret. */
  readonly secret: Buffer;
  /** The receiver may be at an address of a private network. */
  readonly isPrivate: boolean;
}

/** A fact that a person should know. It has no secret. */
export interface Alert {
  /** `account.reconnect` */
  readonly type: string;
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

export interface Alerts {
  /** Sends an alert, several times if the receiver does not take it. Never rejects. */
  send(alert: Alert): Promise<void>;
  /** Waits for requests in progress, at most 5 s, and ends the attempts. */
  close(): Promise<void>;
}

export interface AlertOptions {
  readonly log: (text: string) => void;
  /** Milliseconds before each further attempt. */
  readonly delays?: readonly number[];
}

/** About 40 minutes in all: the receiver may be starting again. */
const DELAYS = [5_000, 60_000, 300_000, 1_800_000];

const CLOSE_MS = 5_000;

/** The receiver asks for no further attempts. */
const GONE = 410;

/** Sends alerts as signed messages of Standard Webhooks. */
export function createAlerts(
  { url, secret, isPrivate }: AlertSettings,
  { log, delays = DELAYS }: AlertOptions,
): Alerts {
  const fetch = guardedFetch(isPrivate ? "private" : "public");
  const closing = new AbortController();
  const requests = new Set<Promise<unknown>>();

  /** Returns why the receiver did not take the message; `undefined` if it did. */
  async function attempt(
    id: string,
    body: string,
  ): Promise<{ readonly why: string; readonly isLast?: true } | undefined> {
    const headers = { "content-type": "application/json", ...signMessage(secret, { id, time: Date.now(), body }) };
    try {
      const { status } = await fetch(url, { method: "POST", headers, body, signal: closing.signal });
      if (status >= 200 && status < 300) return undefined;
      return { why: `it answers with status ${status}`, ...(status === GONE && { isLast: true }) };
    } catch (error) {
      const hint = isNear(url) && !isPrivate ? "; allow it by alerts.private: true" : "";
      return { why: `${getMessage(error)}${hint}` };
    }
  }

  return {
    async send({ type, data }) {
      const id = `msg_${randomUUID()}`;
      const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data });
      for (const delay of [...delays, undefined]) {
        const request = attempt(id, body);
        requests.add(request);
        const failure = await request;
        requests.delete(request);
        if (failure === undefined || closing.signal.aborted) return;
        const isLast = delay === undefined || failure.isLast === true;
        const next = isLast ? "it is not sent again" : `the next attempt is in ${delay / 1_000} s`;
        log(`The alert ${type} could not be sent to ${url.host}: ${failure.why}; ${next}`);
        if (isLast) return;
        await wait(delay, undefined, { signal: closing.signal, ref: false }).catch(() => {}); // closed
        if (closing.signal.aborted) return;
      }
    },
    async close() {
      await Promise.race([Promise.allSettled(requests), wait(CLOSE_MS, undefined, { ref: false })]);
      closing.abort();
    },
  };
}

/** The headers of a signed message, as Standard Webhooks define them. */
interface SignedHeaders {
  readonly "webhook-id": string;
  /** Seconds since 1970. */
  readonly "webhook-timestamp": string;
  readonly "webhook-signature": string;
}

const PREFIX = "whsec_";

/** Fewer bytes can be guessed. */
const MIN_BYTES = 24;
const MAX_BYTES = 64;

/** Parses a secret: base64 of 24 to 64 bytes, after `whsec_` or without it; `undefined` for another text. */
export function parseSigningSecret(text: string): Buffer | undefined {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  const bytes = Buffer.from(encoded, "base64");
  const isBase64 = bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
  return isBase64 && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES ? bytes : undefined;
}

/** Signs a message. `id` is the same for each attempt to send it; `time` is in milliseconds. */
function signMessage(
  secret: Buffer,
  { id, time, body }: { readonly id: string; readonly time: number; readonly body: string },
): SignedHeaders {
  const timestamp = String(Math.floor(time / 1_000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
