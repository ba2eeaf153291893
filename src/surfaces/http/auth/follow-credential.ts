import type { ServerResponse } from "node:http";

import { createCancelReason, type CredentialLife } from "../../../model/credential.ts";

/** A signal that also aborts at the end of a credential, with the reason. */
export interface CredentialSignal {
  readonly signal: AbortSignal;
  /** Ends the watch of the credential. */
  readonly stop: () => void;
}

/** Returns `signal` itself for a credential without an end. */
export function followCredential(signal: AbortSignal, life: CredentialLife | undefined): CredentialSignal {
  if (life === undefined) return { signal, stop: () => {} };
  const controller = new AbortController();
  const stop = life.onEnd((why) => controller.abort(createCancelReason(why)));
  return { signal: AbortSignal.any([signal, controller.signal]), stop };
}

/** Milliseconds that a request has to be answered after the end of its credential. */
const ANSWER_MS = 1_000;

/** Closes the connection of a request some time after its credential has ended. Streams that only listen end by this. */
export function closeAfterCredential(outgoing: ServerResponse, life: CredentialLife | undefined): void {
  if (life === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const stop = life.onEnd(() => (timer = setTimeout(() => outgoing.destroy(), ANSWER_MS)));
  outgoing.once("close", () => {
    stop();
    clearTimeout(timer);
  });
}
