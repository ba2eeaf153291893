import { explainMissing } from "../shared/package/optional-package.ts";

async function load() {
  const explain = explainMissing("the network of devices", "@nats-io/transport-node", "@nats-io/services");
  const [transport, services] = await Promise.all([
    import("@nats-io/transport-node").catch(explain),
    import("@nats-io/services").catch(explain),
  ]);
  const { connect, credsAuthenticator, headers } = transport;
  return { connect, credsAuthenticator, headers, Svcm: services.Svcm };
}

let library: ReturnType<typeof load> | undefined;

/** Loads the packages of NATS, once. Rejects with `PACKAGE_MISSING` if they are not installed. */
export function loadNats(): ReturnType<typeof load> {
  return (library ??= load());
}
