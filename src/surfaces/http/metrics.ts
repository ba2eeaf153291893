import type { RuntimeView } from "../../runtime/api/view.ts";

/** Request counters of a server. */
export interface Counters {
  /** Counts an answered request. `endpoint` is the name of a route, never text from a client. */
  count(endpoint: string, status: number): void;
  readonly requests: number;
  readonly uptimeSeconds: number;
  /** Number of requests by `endpoint status`. */
  readonly byStatus: ReadonlyMap<string, number>;
}

export function createCounters(): Counters {
  const started = performance.now();
  const byStatus = new Map<string, number>();
  let requests = 0;
  return {
    count(endpoint, status) {
      requests++;
      const key = `${endpoint} ${status}`;
      byStatus.set(key, (byStatus.get(key) ?? 0) + 1);
    },
    get requests() {
      return requests;
    },
    get uptimeSeconds() {
      return (performance.now() - started) / 1_000;
    },
    byStatus,
  };
}

/**
 * Formats the counters in the Prometheus text format, with the methods that the caller may read. Throws `ADMIN_MISSING` for a
 * caller that does not administer.
 */
export function metricsText(view: RuntimeView, counters: Counters, sessions: number): string {
  view.require("Read");
  const statistics = view.statistics();
  return [
    metric("skillgate_uptime_seconds", "gauge", "Seconds since the server started", [["", counters.uptimeSeconds]]),
    metric("skillgate_tools", "gauge", "Methods in the catalog", [["", view.catalog.methods.length]]),
    metric("skillgate_sessions", "gauge", "MCP sessions that are open", [["", sessions]]),
    metric(
      "skillgate_http_requests_total",
      "counter",
      "HTTP requests by endpoint and status",
      [...counters.byStatus].map(([key, count]) => {
        const [endpoint = "", status = ""] = key.split(" ");
        return [labels({ endpoint, status }), count];
      }),
    ),
    metric(
      "skillgate_calls_total",
      "counter",
      "Calls of methods by outcome",
      statistics.flatMap(([method, { succeeded, failed }]): Sample[] => [
        [labels({ method, outcome: "ok" }), succeeded],
        [labels({ method, outcome: "error" }), failed],
      ]),
    ),
    metric(
      "skillgate_call_seconds_total",
      "counter",
      "Seconds spent in calls of methods",
      statistics.map(([method, { averageMs, total }]): Sample => [labels({ method }), (averageMs * total) / 1_000]),
    ),
  ].join("");
}

type Sample = readonly [labels: string, value: number];

function metric(name: string, type: "counter" | "gauge", help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labels(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (found) => (found === "\n" ? "\\n" : `\\${found}`))}"`,
  );
  return `{${pairs.join(",")}}`;
}
