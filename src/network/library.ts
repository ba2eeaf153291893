import { explainMissing } from "../shared/package/optional-package.ts";

async function load() {
  const explain = explainMissing("the network of devices", "@nats-io/transport-node");
  const { connect, credsAuthenticator } = await import("@nats-io/transport-node").catch(explain);
  return { connect, credsAuthenticator };
}

let library: ReturnType<typeof load> | undefined;

/** Loads the package of NATS, once. Rejects with `PACKAGE_MISSING` if it is not installed. */
export function loadNats(): ReturnType<typeof load> {
  return (library ??= load());
}
