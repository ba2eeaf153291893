import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

import { isRecord } from "../../src/model/json.ts";

/** A span as the collector has received it. */
export interface ReceivedSpan {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parent: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly { readonly name: string; readonly attributes: Readonly<Record<string, unknown>> }[];
  /** Ids of linked spans. */
  readonly links: readonly string[];
  readonly isFailed: boolean;
}

/** A metric as the collector has received it, with its newest points. */
export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    /** The count of a histogram, or the value. */
    readonly value: unknown;
  }[];
}

/** A receiver of OTLP over HTTP. It reads JSON; bodies in protobuf are kept as they are. */
export interface Collector {
  readonly url: string;
  /** Variables that make a process export to it, as JSON and without a pause. */
  readonly env: Readonly<Record<string, string>>;
  readonly spans: readonly ReceivedSpan[];
  readonly metrics: ReadonlyMap<string, ReceivedMetric>;
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  /** Requests whose bodies are not JSON. */
  readonly binary: readonly { readonly path: string; readonly contentType: string; readonly body: Buffer }[];
  /** The text of everything that was received. */
  readonly text: () => string;
  /** Waits until a metric with this name has arrived. */
  readonly whenMetric: (name: string) => Promise<ReceivedMetric>;
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, ReceivedMetric>();
  const resources: Readonly<Record<string, unknown>>[] = [];
  const binary: { path: string; contentType: string; body: Buffer }[] = [];
  const texts: string[] = [];
  const arrivals = new EventEmitter().setMaxListeners(0);
  const receive = (json: string): void => {
    texts.push(json);
    const message: unknown = JSON.parse(json);
    for (const group of list(message, "resourceSpans")) {
      resources.push(readAttributes(get(group, "resource")));
      for (const scope of list(group, "scopeSpans")) spans.push(...list(scope, "spans").map(readSpan));
    }
    for (const group of list(message, "resourceMetrics"))
      for (const scope of list(group, "scopeMetrics"))
        for (const metric of list(scope, "metrics").map(readMetric)) metrics.set(metric.name, metric);
  };
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const contentType = request.headers["content-type"] ?? "";
    if (contentType.includes("json")) receive(body.toString());
    else binary.push({ path: request.url ?? "", contentType, body });
    response.writeHead(200, { "content-type": contentType }).end(contentType.includes("json") ? "{}" : "");
    arrivals.emit("arrival");
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const whenFound = async <Value>(find: () => Value | undefined): Promise<Value> => {
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await once(arrivals, "arrival");
    }
  };
  return {
    url,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
      OTEL_METRIC_EXPORT_INTERVAL: "200",
    },
    spans,
    metrics,
    resources,
    binary,
    text: () => texts.join("\n"),
    whenMetric: (name) => whenFound(() => metrics.get(name)),
  };
}

const KINDS = ["internal", "internal", "server", "client"] as const;

function readSpan(span: unknown): ReceivedSpan {
  const text = (name: string): string => {
    const value = get(span, name);
    return typeof value === "string" ? value : "";
  };
  return {
    name: text("name"),
    kind: KINDS[Number(get(span, "kind"))] ?? "internal",
    traceId: text("traceId"),
    spanId: text("spanId"),
    parent: text("parentSpanId"),
    attributes: readAttributes(span),
    events: list(span, "events").map((event) => ({
      name: String(get(event, "name")),
      attributes: readAttributes(event),
    })),
    links: list(span, "links").map((link) => String(get(link, "spanId"))),
    isFailed: get(get(span, "status"), "code") === 2,
  };
}

function readMetric(metric: unknown): ReceivedMetric {
  const content = get(metric, "histogram") ?? get(metric, "sum") ?? get(metric, "gauge");
  return {
    name: String(get(metric, "name")),
    unit: String(get(metric, "unit")),
    points: list(content, "dataPoints").map((point) => ({
      attributes: readAttributes(point),
      value: get(point, "count") ?? get(point, "asDouble") ?? get(point, "asInt"),
    })),
  };
}

function readAttributes(owner: unknown): Readonly<Record<string, unknown>> {
  const pairs = list(owner, "attributes").map((attribute): [string, unknown] => {
    const value = get(attribute, "value");
    return [String(get(attribute, "key")), isRecord(value) ? Object.values(value)[0] : undefined];
  });
  return Object.fromEntries(pairs);
}

function get(owner: unknown, name: string): unknown {
  return isRecord(owner) ? owner[name] : undefined;
}

function list(owner: unknown, name: string): readonly unknown[] {
  const value = get(owner, name);
  return Array.isArray(value) ? value : [];
}
