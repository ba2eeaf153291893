// @module-tag rest

import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { expect, onTestFinished, test } from "vitest";

import { createEchoSkill, joinWith, openHub, waitForDevice } from "../providers/nodes/network.ts";
import { NATS_SERVER, startNats } from "../support/servers/nats.ts";
import { openStranger } from "../support/stranger.ts";
import { startCollector } from "./collector.ts";

test.skipIf(NATS_SERVER === undefined)("continues a trace on the device that makes a call [O3, O4]", async () => {
  const server = await startNats();
  onTestFinished(() => server.close());
  const collector = await startCollector();
  const exporter = new OTLPTraceExporter({ url: `${collector.url}/v1/traces` });
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  provider.register();
  onTestFinished(async () => {
    await provider.shutdown();
    for (const api of [trace, context, propagation]) api.disable();
  });
  await joinWith({ url: server.url, name: "one" }, { skills: [createEchoSkill("one")] });
  const hub = await openHub({ url: server.url });
  await waitForDevice(hub, "one");
  await hub.run(`await devices.one.EchoSkill.say("a")`);
  await provider.forceFlush();

  const find = (name: string): (typeof collector.spans)[number] | undefined =>
    collector.spans.find((span) => span.name === name);
  const [caller, device] = [find("execute_tool one.EchoSkill.say"), find("execute_tool EchoSkill.say")];
  expect(device).toMatchObject({ traceId: caller?.traceId, parent: caller?.spanId });
  expect(caller?.traceId).toBe(find("skillgate.run")?.traceId);
});

test.skipIf(NATS_SERVER === undefined)(
  "counts the frames of a stranger that are dropped, by their reason [O3, O4]",
  async () => {
    const server = await startNats();
    onTestFinished(() => server.close());
    const collector = await startCollector();
    const exporter = new OTLPMetricExporter({ url: `${collector.url}/v1/metrics` });
    const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
    metrics.setGlobalMeterProvider(provider);
    onTestFinished(async () => {
      await provider.shutdown();
      metrics.disable();
    });
    const stranger = await openStranger(server.url);
    await joinWith({ url: server.url, name: "one" }, { skills: [createEchoSkill("one")] });
    const hub = await openHub({ url: server.url });
    await waitForDevice(hub, "one");
    const recorded = stranger.record(2);
    await hub.call("one.EchoSkill.say", { text: "a" });
    await recorded;
    await stranger.replay(); // as it was, and with another last bit
    await hub.call("one.EchoSkill.say", { text: "b" }); // what the stranger sent before has arrived
    await provider.forceFlush();

    const { points } = await collector.whenMetric("skillgate.network.dropped");
    const counts = new Map(points.map(({ attributes, value }) => [attributes["skillgate.network.drop_reason"], value]));
    for (const reason of ["not_authentic", "replayed"]) expect(Number(counts.get(reason))).toBeGreaterThan(0);
  },
);
