import type { Webhook } from "./parse-webhook.ts";
import { SERVICES } from "./services.ts";

/** Says how deliveries are verified: `github`, or `hmac sha256 in the header x-shop-signature`. */
export function describeScheme({ schemes }: Pick<Webhook, "schemes">): string {
  const service = Object.entries(SERVICES).find(([, each]) => each === schemes);
  if (service !== undefined) return service[0];
  const [scheme] = schemes;
  const what = scheme.type === "hmac" ? `hmac ${scheme.algorithm}` : "token";
  return `${what} in the header ${scheme.header}`;
}
