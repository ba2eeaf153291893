import { setTimeout as sleep } from "node:timers/promises";

import { OAuthFailure } from "./failure.ts";
import { type OAuthProvider, readGrant } from "./provider.ts";
import type { Grant } from "./tokens.ts";

/** An authorization by a code that a person types on another device. */
export interface DeviceAuthorization {
  readonly userCode: string;
  /** The page on which the person types the code. */
  readonly url: URL;
  /** The same page with the code in it, if the provider has one. */
  readonly completeUrl?: URL;
  /** When the code ends. */
  readonly expires: number;
  /** Waits until the person has agreed. */
  wait(signal: AbortSignal): Promise<Grant>;
}

/** Seconds between two requests, if the provider names none. */
const DEFAULT_INTERVAL = 5;

/** The longest delay of a timer. */
const MAX_DELAY_MS = 2_147_483_647;

const GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code";

export async function beginDevice(
  provider: OAuthProvider,
  parameters: URLSearchParams,
  scopes: readonly string[],
): Promise<DeviceAuthorization> {
  const { oauth, server, client, authentication, http } = provider;
  const response = await oauth.deviceAuthorizationRequest(server, client, authentication, parameters, http);
  const answer = await oauth.processDeviceAuthorizationResponse(server, client, response);
  const { verification_uri_complete: complete } = answer;
  const expires = provider.now() + answer.expires_in * 1_000;
  return {
    userCode: answer.user_code,
    url: provider.getPage(answer.verification_uri, "page for codes"),
    ...(complete !== undefined && { completeUrl: provider.getPage(complete, "page for codes") }),
    expires,
    wait: (signal) =>
      poll(
        provider,
        { code: answer.device_code, seconds: answer.interval ?? DEFAULT_INTERVAL, expires, scopes },
        signal,
      ),
  };
}

interface Waiting {
  /** Secret. */
  readonly code: string;
  readonly seconds: number;
  readonly expires: number;
  readonly scopes: readonly string[];
}

async function poll(provider: OAuthProvider, waiting: Waiting, signal: AbortSignal): Promise<Grant> {
  const { oauth, server, client, authentication, http } = provider;
  const parameters = { device_code: waiting.code };
  let { seconds } = waiting;
  while (provider.now() < waiting.expires) {
    const waitMs = Math.min(seconds * 1_000, waiting.expires - provider.now(), MAX_DELAY_MS);
    await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    try {
      const response = await oauth.genericTokenEndpointRequest(
        server,
        client,
        authentication,
        GRANT_TYPE,
        parameters,
        http,
      );
      return await readGrant(provider, response, waiting.scopes);
    } catch (error) {
      seconds = getNextInterval(error, seconds);
    }
  }
  throw new OAuthFailure("refused", "the code was not entered in time");
}

/** Returns the seconds until the next request; throws an error that ends the authorization. */
function getNextInterval(error: unknown, seconds: number): number {
  if (!(error instanceof OAuthFailure)) throw error;
  if (error.code === "authorization_pending") return seconds;
  if (error.code === "slow_down") return seconds + DEFAULT_INTERVAL;
  if (error.kind === "unavailable") return seconds * 2;
  throw error;
}
