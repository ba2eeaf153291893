import type * as Api from "@opentelemetry/api";

import { createPackageRequire } from "../../sandbox/package-files.ts";

/** Where version 1 of the API keeps what an SDK registers, in any copy of the package. */
const REGISTRY = Symbol.for("opentelemetry.js.api.1");

let api: typeof Api | undefined;

/**
 * Returns the API of OpenTelemetry if an SDK is registered in this process. Without one, it is not loaded: that takes as long as
 * a whole run.
 */
export function findApi(): typeof Api | undefined {
  return api === undefined && REGISTRY in globalThis ? loadApi() : api;
}

/** True if spans and metrics are received in this process. Costs less than a span that is dropped. */
export function hasSdk(): boolean {
  return findApi() !== undefined;
}

export function loadApi(): typeof Api {
  return (api ??= createPackageRequire()("@opentelemetry/api") as typeof Api);
}
