import type { Attributes, Counter, Histogram, Meter, MeterProvider } from "@opentelemetry/api";

import type { SandboxLoad } from "../../sandbox/index.ts";
import { VERSION } from "../shared/version.ts";
import { findApi } from "./api.ts";
import { ATTRIBUTES, HTTP_BUCKETS, MCP_BUCKETS, SHORT_BUCKETS } from "./conventions.ts";

/** The instruments of this process. Durations are in seconds. */
interface Instruments {
  readonly runs: Histogram;
  readonly calls: Histogram;
  readonly refusals: Counter;
  readonly dropped: Counter;
  readonly reconnects: Counter;
  readonly automations: Counter;
  readonly searches: Histogram;
  readonly mcpClient: Histogram;
  readonly mcpServer: Histogram;
  readonly http: Histogram;
}

export type DurationName = Exclude<keyof Instruments, "refusals" | "dropped" | "reconnects" | "automations">;

const sandboxes = new Set<() => SandboxLoad>();

let current: { readonly provider: MeterProvider; readonly instruments: Instruments | undefined } | undefined;

/** Records how long an operation took that began at `startedAt`, a time of `performance.now()`. */
export function recordDuration(name: DurationName, startedAt: number, attributes: Attributes = {}): void {
  findInstruments()?.[name].record((performance.now() - startedAt) / 1_000, attributes);
}

/** Counts a refusal by its code. */
export function countRefusal(kind: "run" | "call", code: string): void {
  findInstruments()?.refusals.add(1, { [ATTRIBUTES.errorType]: code, [ATTRIBUTES.refusalKind]: kind });
}

/** Counts a message of the network of machines that is not used. */
export function countDroppedMessage(reason: string): void {
  findInstruments()?.dropped.add(1, { [ATTRIBUTES.dropReason]: reason });
}

/** Counts a connection of an account that its owner must connect again. */
export function countReconnect(account: string): void {
  findInstruments()?.reconnects.add(1, { [ATTRIBUTES.account]: account });
}

/** Counts an automation that was held or paused, so that it does not run any more. */
export function countAutomation(state: string): void {
  findInstruments()?.automations.add(1, { [ATTRIBUTES.automationState]: state });
}

/** Includes a sandbox in the metrics of workers and queues. Returns a function that removes it. */
export function observeSandbox(getLoad: () => SandboxLoad): () => void {
  sandboxes.add(getLoad);
  findInstruments();
  return () => void sandboxes.delete(getLoad);
}

/** Returns the instruments of the registered SDK. It may be registered at any time, and replaced. */
function findInstruments(): Instruments | undefined {
  const api = findApi();
  if (api === undefined) return undefined;
  const provider = api.metrics.getMeterProvider();
  if (provider === current?.provider) return current.instruments;
  const meter = provider.getMeter("skillgate", VERSION);
  const instruments = meter === api.createNoopMeter() ? undefined : createInstruments(meter);
  current = { provider, instruments };
  return instruments;
}

function createInstruments(meter: Meter): Instruments {
  const createDuration = (name: string, description: string, buckets: number[]): Histogram =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: buckets } });
  observeLoad(meter);
  return {
    runs: createDuration("skillgate.run.duration", "Duration of runs, by outcome", SHORT_BUCKETS),
    calls: createDuration("gen_ai.execute_tool.duration", "Duration of calls of methods", SHORT_BUCKETS),
    refusals: meter.createCounter("skillgate.refusals", {
      description: "Refused runs and calls, by code",
      unit: "{refusal}",
    }),
    dropped: meter.createCounter("skillgate.network.dropped", {
      description: "Messages of the network of machines that are not authentic, by reason",
      unit: "{message}",
    }),
    reconnects: meter.createCounter("skillgate.accounts.reconnect", {
      description: "Connections of accounts that must be connected again, by account",
      unit: "{connection}",
    }),
    automations: meter.createCounter("skillgate.automations.stopped", {
      description: "Automations that were held or paused, by state",
      unit: "{automation}",
    }),
    searches: createDuration("skillgate.search.duration", "Duration of searches for methods", SHORT_BUCKETS),
    mcpClient: createDuration("mcp.client.operation.duration", "Duration of requests to MCP servers", MCP_BUCKETS),
    mcpServer: createDuration("mcp.server.operation.duration", "Duration of requests of MCP clients", MCP_BUCKETS),
    http: createDuration("http.server.request.duration", "Duration of HTTP requests", HTTP_BUCKETS),
  };
}

function observeLoad(meter: Meter): void {
  const workers = meter.createObservableUpDownCounter("skillgate.workers", {
    description: "Worker threads with an isolate, by state",
    unit: "{worker}",
  });
  const queue = meter.createObservableUpDownCounter("skillgate.queue", {
    description: "Runs that wait for a worker",
    unit: "{run}",
  });
  meter.addBatchObservableCallback(
    (result) => {
      const totals = new Map<string, number>();
      let queued = 0;
      for (const getLoad of sandboxes) {
        const load = getLoad();
        queued += load.queuedRuns;
        for (const [state, count] of Object.entries(load.workers)) totals.set(state, (totals.get(state) ?? 0) + count);
      }
      for (const [state, count] of totals) result.observe(workers, count, { [ATTRIBUTES.workerState]: state });
      result.observe(queue, queued);
    },
    [workers, queue],
  );
}
