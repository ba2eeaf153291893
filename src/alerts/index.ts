import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";

import { getMessage } from "../errors.ts";
import { isNear } from "../shared/http/addresses.ts";
import { guardedFetch } from "../shared/http/guarded-fetch.ts";
import { signMessage } from "./sign.ts";

export { parseSigningSecret } from "./sign.ts";

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
