import type { Problem } from "../../model/provider.ts";
import { type ExportTarget, type SdkStart, startSdk } from "../../telemetry/index.ts";
import type { DoctorCheck } from "./text/output.ts";

/** The export of traces and metrics of one command. */
export interface CliTelemetry {
  /** Starts the export on the first call, if the environment asks for it. */
  start(): Promise<SdkStart>;
  /** Returns the reason why the export did not start. */
  problems(): readonly Problem[];
  close(): Promise<void>;
}

export function createTelemetry(): CliTelemetry {
  let starting: Promise<SdkStart> | undefined;
  let result: SdkStart = { kind: "off" };
  return {
    start: () => (starting ??= startSdk(process.env).then((start) => (result = start))),
    problems() {
      if (result.kind !== "failed") return [];
      const { error, fix } = result;
      return [{ source: "telemetry", error, isForAllRuns: true, ...(fix !== "" && { fix }) }];
    },
    async close() {
      if (result.kind === "started") await result.sdk.close();
    },
  };
}

/** Describes the export for `doctor`; empty if the environment does not ask for one. */
export function checkTelemetry(start: SdkStart): readonly DoctorCheck[] {
  const check = { kind: "telemetry", subject: "Telemetry" } as const;
  switch (start.kind) {
    case "off":
      return [];
    case "failed":
      return [{ ...check, status: "error", says: start.error, details: start.fix }];
    case "started":
      return [{ ...check, status: "ok", says: start.targets.map(formatTarget).join(", "), details: "" }];
  }
}

/** Only the origin: a path or a user name may contain a secret. */
function formatTarget({ signal, endpoint, protocol }: ExportTarget): string {
  return `${signal} to ${new URL(endpoint).origin} over ${protocol}`;
}
