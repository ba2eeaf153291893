import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import type { RuntimeOptions } from "../../src/runtime/options.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { type Collector, type ReceivedSpan, startCollector } from "./collector.ts";

const SECRET = "correct-horse-battery-staple";

const NotesSkill = defineSkill({
  name: "NotesSkill",
  description: "Keeps notes",
  methods: {
    add: {
      description: "Add a note",
      input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      run: async ({ text }) => {
        const span = trace.getTracer("skill").startSpan("write note");
        await Promise.resolve();
        span.end();
        return `stored ${text}`;
      },
    },
    fail: {
      description: "Fail",
      run: () => {
        throw new Error(`no room for ${SECRET}`);
      },
    },
    pay: { description: "Pay", approval: "user", run: () => "paid" },
  },
});

/** A program with an SDK of its own, and a runtime in it. */
async function embed(
  options: RuntimeOptions = {},
): Promise<Collector & { readonly runtime: Runtime; readonly flush: () => Promise<void> }> {
  const collector = await startCollector();
  const tracing = new NodeTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${collector.url}/v1/traces` }))],
  });
  tracing.register();
  const exporter = new OTLPMetricExporter({ url: `${collector.url}/v1/metrics` });
  const metering = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  metrics.setGlobalMeterProvider(metering);
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [NotesSkill],
    workers: 1,
    typecheck: false,
    env: { SKILLGATE_TOKEN: SECRET },
    ...options,
  });
  onTestFinished(async () => {
    await runtime.close();
    await Promise.all([tracing.shutdown(), metering.shutdown()]);
    for (const api of [trace, metrics, context, propagation]) api.disable();
  });
  const flush = async (): Promise<void> => void (await Promise.all([tracing.forceFlush(), metering.forceFlush()]));
  return Object.assign(collector, { runtime, flush });
}

/** The names of spans, from the first of a trace to the given one. */
function pathTo(span: ReceivedSpan | undefined, spans: readonly ReceivedSpan[]): readonly string[] {
  if (span === undefined) return [];
  return [
    ...pathTo(
      spans.find(({ spanId }) => spanId === span.parent),
      spans,
    ),
    span.name,
  ];
}

const find = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan | undefined =>
  spans.find((span) => span.name === name);

test("gives a program with its own SDK the spans of a run, from its own span to those of a skill [O4]", async () => {
  const { runtime, spans, flush } = await embed();
  const outcome = await trace.getTracer("host").startActiveSpan("host work", async (span) => {
    const ended = await runtime.run('await device.NotesSkill.add({ text: "milk" })');
    span.end();
    return ended;
  });
  await flush();
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(pathTo(find(spans, "write note"), spans)).toEqual([
    "host work",
    "skillgate.run",
    "skillgate.sandbox",
    "execute_tool NotesSkill.add",
    "write note",
  ]);
  expect(pathTo(find(spans, "skillgate.check"), spans)).toEqual(["host work", "skillgate.run", "skillgate.check"]);
  expect(find(spans, "skillgate.run")).toMatchObject({
    kind: "internal",
    isFailed: false,
    attributes: { "skillgate.run.id": outcome.runId, "skillgate.run.outcome": "completed" },
  });
  expect(find(spans, "execute_tool NotesSkill.add")?.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "NotesSkill.add",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": `${outcome.runId}/1`,
    "skillgate.run.id": outcome.runId,
  });
});

test("gives the calls of a recorded run the same place in its trace [O4]", async () => {
  const { runtime, spans, flush } = await embed({ runs: { record: "full" } });
  await runtime.run('await device.NotesSkill.add({ text: "milk" })');
  await flush();
  expect(pathTo(find(spans, "write note"), spans)).toEqual([
    "skillgate.run",
    "skillgate.sandbox",
    "execute_tool NotesSkill.add",
    "write note",
  ]);
});

test("marks a refused call with an event, and a refused program with its violations [O4]", async () => {
  const { runtime, spans, flush } = await embed();
  await runtime.run("try { await device.NotesSkill.pay() } catch (error) { error.code }");
  await runtime.run("device.NotesSkill.ad(); process.exit()");
  await flush();
  expect(find(spans, "execute_tool NotesSkill.pay")).toMatchObject({
    isFailed: true,
    attributes: { "error.type": "APPROVAL_MISSING" },
    events: [{ name: "skillgate.call.refused", attributes: { "error.type": "APPROVAL_MISSING" } }],
  });
  const refused = spans.find(({ attributes }) => attributes["skillgate.run.outcome"] === "refused");
  expect(refused).toMatchObject({ isFailed: true, attributes: { "error.type": "METHOD_UNKNOWN" } });
  expect(refused?.events.map(({ attributes }) => attributes["error.type"])).toEqual([
    "METHOD_UNKNOWN",
    "GLOBAL_FORBIDDEN",
  ]);
});

test("names the kind of an error and not its message [O4]", async () => {
  const { runtime, spans, text, flush } = await embed();
  await runtime.run("await device.NotesSkill.fail()");
  await flush();
  expect(find(spans, "execute_tool NotesSkill.fail")).toMatchObject({
    isFailed: true,
    attributes: { "error.type": "CALL_FAILED" },
    events: [],
  });
  expect(find(spans, "skillgate.run")).toMatchObject({ isFailed: true, attributes: { "error.type": "CALL_FAILED" } });
  expect(text()).not.toContain("no room");
});

const LEAK = `await device.NotesSkill.add({ text: "the code is ${SECRET}, the key sk-abcdefgh12345678" })`;

test("sends no arguments and results by default [O4]", async () => {
  const { runtime, text, flush } = await embed();
  await runtime.run(LEAK);
  await flush();
  expect(text()).toContain("execute_tool NotesSkill.add");
  expect(text()).not.toContain("the code");
});

test("sends arguments and results on request, without secrets [O4, P9]", async () => {
  const { runtime, spans, text, flush } = await embed({ telemetry: { content: true } });
  await runtime.run(LEAK);
  await flush();
  expect(find(spans, "execute_tool NotesSkill.add")?.attributes).toMatchObject({
    "gen_ai.tool.call.arguments": '[{"text":"the code is [redacted], the key [redacted]"}]',
    "gen_ai.tool.call.result": '"stored the code is [secret:1], the key [redacted]"',
  });
  expect(text()).not.toContain(SECRET);
  expect(text()).not.toContain("sk-abcdefgh");
});

test("sends content if the environment asks for it, cut to a bounded length [O4]", async () => {
  const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" };
  const { runtime, spans, flush } = await embed({ env });
  await runtime.run('await device.NotesSkill.add({ text: "x".repeat(50_000) })');
  await flush();
  const content = String(find(spans, "execute_tool NotesSkill.add")?.attributes["gen_ai.tool.call.arguments"]);
  expect(content).toHaveLength(16_384);
});

test("measures runs, calls, refusals, workers, the queue and searches [O4]", async () => {
  const { runtime, metrics: received, flush } = await embed();
  await runtime.run('await device.NotesSkill.add({ text: "milk" })');
  await runtime.run("await device.NotesSkill.pay()");
  await runtime.run("process.exit()");
  runtime.search("add a note");
  await flush();
  const points = (name: string): unknown =>
    received.get(name)?.points.map(({ attributes, value }) => [Object.values(attributes).join(" "), value]);
  expect(points("skillgate.run.duration")).toEqual([
    ["completed", 1],
    ["failed APPROVAL_MISSING", 1],
    ["refused GLOBAL_FORBIDDEN", 1],
  ]);
  expect(points("gen_ai.execute_tool.duration")).toEqual([
    ["execute_tool NotesSkill.add function", 1],
    ["execute_tool NotesSkill.pay function APPROVAL_MISSING", 1],
  ]);
  expect(points("skillgate.refusals")).toEqual([
    ["APPROVAL_MISSING call", 1],
    ["GLOBAL_FORBIDDEN run", 1],
  ]);
  expect(points("skillgate.search.duration")).toEqual([["", 1]]);
  expect(points("skillgate.queue")).toEqual([["", 0]]);
  const workers = received.get("skillgate.workers")?.points ?? [];
  expect(workers.map(({ attributes }) => attributes["skillgate.worker.state"])).toEqual([
    "starting",
    "idle",
    "busy",
    "blocked",
  ]);
  expect(workers.reduce((sum, { value }) => sum + Number(value), 0)).toBeGreaterThan(0);
  expect(received.get("skillgate.run.duration")?.unit).toBe("s");
});
