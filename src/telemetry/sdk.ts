import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace-node";

import { getMessage } from "../errors.ts";
import { waitAtMost } from "../shared/run-with-timeout.ts";
import { VERSION } from "../shared/version.ts";
import { findApi, loadApi } from "./api.ts";
import { type ExportVariables, type ExportTarget, findExportTargets } from "./environment.ts";

/** The packages of the SDK, and their versions that run on Node 20. */
const SDK_PACKAGES = {
  "@opentelemetry/sdk-trace-node": "2",
  "@opentelemetry/sdk-metrics": "2",
  "@opentelemetry/resources": "2",
} as const;

/** The version of the exporters that belongs to version 2 of the SDK. */
const EXPORTER_VERSION = "0.223";

/** The packages of the exporters, by protocol. */
const EXPORTERS = {
  "http/protobuf": {
    traces: "@opentelemetry/exporter-trace-otlp-proto",
    metrics: "@opentelemetry/exporter-metrics-otlp-proto",
  },
  "http/json": {
    traces: "@opentelemetry/exporter-trace-otlp-http",
    metrics: "@opentelemetry/exporter-metrics-otlp-http",
  },
} as const;

/** How long the last spans and metrics may take to be sent when the program ends. */
const FLUSH_MS = 3_000;

/** How long one export of metrics may take. */
const MAX_EXPORT_MS = 10_000;

/** A started SDK. */
export interface TelemetrySdk {
  /** Sends what was not sent yet, for at most some seconds, and stops. */
  close(): Promise<void>;
}

/** The result of a start: `off` if the environment names no endpoint, or if this process has an SDK already. */
export type SdkStart =
  | { readonly kind: "off" }
  | { readonly kind: "started"; readonly sdk: TelemetrySdk; readonly targets: readonly ExportTarget[] }
  | { readonly kind: "failed"; readonly error: string; readonly fix: string };

/**
 * Starts the SDK of OpenTelemetry if the environment names an endpoint. Its packages are optional: without them, the result
 * says which to install.
 */
export async function startSdk(env: ExportVariables): Promise<SdkStart> {
  const targets = findExportTargets(env);
  if (targets.length === 0 || findApi() !== undefined) return { kind: "off" };
  const unknown = targets.find(({ protocol }) => !Object.hasOwn(EXPORTERS, protocol));
  if (unknown !== undefined) {
    const fix = `Set OTEL_EXPORTER_OTLP_PROTOCOL to ${Object.keys(EXPORTERS).join(" or ")}, and the port of OTLP over HTTP, which is usually 4318`;
    return { kind: "failed", error: `Cannot export ${unknown.signal} over ${JSON.stringify(unknown.protocol)}`, fix };
  }
  const unsent = targets.find(({ endpoint }) => !/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint));
  if (unsent !== undefined) {
    const fix = "Write OTEL_EXPORTER_OTLP_ENDPOINT as http://localhost:4318, with http:// or https://";
    return { kind: "failed", error: `Cannot export ${unsent.signal}: the endpoint is not a URL of HTTP`, fix };
  }
  try {
    return { kind: "started", sdk: await registerSdk(targets, env), targets };
  } catch (thrown) {
    const isMissing = thrown instanceof Error && "code" in thrown && thrown.code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) return { kind: "failed", error: `Cannot export traces: ${getMessage(thrown)}`, fix: "" };
    const error = "Cannot export traces and metrics: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the SDK is not installed";
    return { kind: "failed", error, fix: `npm install ${listPackages(targets).join(" ")}` };
  }
}

function listPackages(targets: readonly ExportTarget[]): readonly string[] {
  const exporters = targets.map((target) => `${findExporter(target)}@${EXPORTER_VERSION}`);
  return [...Object.entries(SDK_PACKAGES).map(([name, version]) => `${name}@${version}`), ...exporters];
}

function findExporter({ protocol, signal }: ExportTarget): string {
  return EXPORTERS[protocol as keyof typeof EXPORTERS][signal];
}

/** Shows bundlers that a package is optional: they warn about one that is missing instead of failing. */
function rethrow(error: unknown): never {
  throw error;
}

async function registerSdk(targets: readonly ExportTarget[], env: ExportVariables): Promise<TelemetrySdk> {
  const [tracing, metering, resources] = await Promise.all([
    import("@opentelemetry/sdk-trace-node").catch(rethrow),
    import("@opentelemetry/sdk-metrics").catch(rethrow),
    import("@opentelemetry/resources").catch(rethrow),
  ]);
  // The environment takes precedence: OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES.
  const resource = resources
    .defaultResource()
    .merge(resources.resourceFromAttributes({ "service.name": "skillgate", "service.version": VERSION }))
    .merge(resources.detectResources({ detectors: [resources.envDetector] }));
  const closing: (() => Promise<void>)[] = [];
  for (const target of targets) {
    const module = (await import(findExporter(target))) as ExporterModule;
    if (target.signal === "traces") {
      const processor = new tracing.BatchSpanProcessor(new module.OTLPTraceExporter());
      const provider = new tracing.NodeTracerProvider({ resource, spanProcessors: [processor] });
      provider.register();
      closing.push(() => provider.shutdown());
    } else {
      const interval = Number(env["OTEL_METRIC_EXPORT_INTERVAL"] ?? "");
      const reader = new metering.PeriodicExportingMetricReader({
        exporter: new module.OTLPMetricExporter(),
        ...(interval > 0 && { exportIntervalMillis: interval, exportTimeoutMillis: Math.min(interval, MAX_EXPORT_MS) }),
      });
      const provider = new metering.MeterProvider({ resource, readers: [reader] });
      loadApi().metrics.setGlobalMeterProvider(provider);
      closing.push(() => provider.shutdown());
    }
  }
  return {
    async close() {
      await waitAtMost(FLUSH_MS, Promise.allSettled(closing.map((close) => close())));
    },
  };
}

/** The exporters of all protocols have the same names. */
interface ExporterModule {
  readonly OTLPTraceExporter: new () => SpanExporter;
  readonly OTLPMetricExporter: new () => PushMetricExporter;
}
