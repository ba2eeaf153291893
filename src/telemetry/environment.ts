/** Environment variables by name. */
export type ExportVariables = Readonly<Record<string, string | undefined>>;

/** The signals that are exported. */
export type Signal = "traces" | "metrics";

/** Whether the environment asks for arguments and results in spans, by the variable that the conventions name. */
export function capturesContent(env: ExportVariables): boolean {
  const value = env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] ?? "";
  return /^(?:true|span_only|span_and_event)$/i.test(value);
}

/** Where a signal is exported to. */
export interface ExportTarget {
  readonly signal: Signal;
  readonly endpoint: string;
  readonly protocol: string;
}

/** Returns where the variables of OpenTelemetry send traces and metrics; empty if they name no endpoint. */
export function findExportTargets(env: ExportVariables): readonly ExportTarget[] {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return [];
  return (["traces", "metrics"] as const).flatMap((signal) => {
    const own = (name: string): string | undefined =>
      env[`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`] || env[`OTEL_EXPORTER_OTLP_${name}`];
    const endpoint = own("ENDPOINT");
    const isOff = env[`OTEL_${signal.toUpperCase()}_EXPORTER`] === "none";
    return endpoint === undefined || isOff ? [] : [{ signal, endpoint, protocol: own("PROTOCOL") || "http/protobuf" }];
  });
}

/** Returns the secrets in the variables of OpenTelemetry: the values of the headers that exporters send. */
export function findExportSecrets(env: ExportVariables): readonly string[] {
  const lists = ["", "TRACES_", "METRICS_"].map((signal) => env[`OTEL_EXPORTER_OTLP_${signal}HEADERS`] ?? "");
  const values = lists.flatMap((list) => list.split(",")).map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
  return values.flatMap((value) => [value, ...value.split(/%20|\s/)]).filter((value) => value !== "");
}
