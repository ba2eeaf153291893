import { explainMissing } from "../shared/package/optional-package.ts";

function load() {
  return import("@nats-io/transport-node").catch(explainMissing("the network of devices", "@nats-io/transport-node"));
}

let library: ReturnType<typeof load> | undefined;

/** Loads the package of NATS, once. Rejects with `PACKAGE_MISSING` if it is not installed. */
export function loadNats(): ReturnType<typeof load> {
  return (library ??= load());
}
