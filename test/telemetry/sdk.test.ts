// @module-tag rest

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { resolve } from "node:path";
import { expect, test } from "vitest";

import { BIN, environment, project, runProcess } from "../surfaces/cli/command.ts";
import { startCollector } from "./collector.ts";

const HIDE_SDK = { NODE_OPTIONS: `--import ${pathToFileURL(resolve("test/fixtures/hide-opentelemetry.mjs")).href}` };

const MISSING = "Cannot export traces and metrics: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the SDK is not installed";

test("exports the run of a command in protobuf by default [O4]", async () => {
  const collector = await startCollector();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  expect(await runProcess(["run", "-e", "6 * 7"], { cwd: project(), env })).toEqual({
    exit: 0,
    stdout: "42\n",
    stderr: "",
  });
  expect(new Set(collector.binary.map(({ path, contentType }) => `${path} ${contentType}`))).toEqual(
    new Set(["/v1/metrics application/x-protobuf", "/v1/traces application/x-protobuf"]),
  );
  const traces = collector.binary.find(({ path }) => path === "/v1/traces");
  expect(traces?.body.includes("skillgate.run")).toBe(true);
});

test("exports only what the variables name [O4]", async () => {
  const collector = await startCollector();
  const { OTEL_EXPORTER_OTLP_PROTOCOL } = collector.env;
  const cwd = project();
  for (const env of [
    { ...collector.env, OTEL_METRICS_EXPORTER: "none" },
    { OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces` },
  ])
    expect(await runProcess(["run", "-e", "6 * 7"], { cwd, env })).toMatchObject({ exit: 0 });
  expect(collector.spans.filter(({ name }) => name === "skillgate.run")).toHaveLength(2);
  const off = { ...collector.env, OTEL_SDK_DISABLED: "true" };
  expect(await runProcess(["run", "-e", "6 * 7"], { cwd, env: off })).toMatchObject({ exit: 0 });
  expect(collector.spans.filter(({ name }) => name === "skillgate.run")).toHaveLength(2);
  expect(collector.metrics.size).toBe(0);
});

test("runs without the packages of the SDK, and says what to install [O4]", async () => {
  const collector = await startCollector();
  const place = { cwd: project(), env: { ...HIDE_SDK, ...collector.env, OTEL_EXPORTER_OTLP_PROTOCOL: "" } };
  const { exit, stdout, stderr } = await runProcess(["run", "-e", "6 * 7"], place);
  expect([exit, stdout]).toEqual([0, "42\n"]);
  expect(stderr).toContain(`Warning: telemetry: ${MISSING}`);
  expect(stderr).toContain("npm install @opentelemetry/sdk-trace-node@2");
  expect(stderr).toContain("@opentelemetry/exporter-trace-otlp-proto@0.223");
  const doctor = await runProcess(["doctor"], place);
  expect(doctor.exit).toBe(2);
  expect(doctor.stdout).toContain(`✗ Telemetry: ${MISSING}`);
});

test("shows in doctor where traces and metrics go, without secrets [O4]", async () => {
  const collector = await startCollector();
  const { host } = new URL(collector.url);
  const env = {
    ...collector.env,
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}/tenant/0123456789secret`,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-password",
  };
  const { stdout, stderr } = await runProcess(["doctor"], { cwd: project(), env });
  expect(stdout).toContain(
    `✓ Telemetry: traces to http://${host} over http/json, metrics to http://${host} over http/json`,
  );
  expect(stdout + stderr).not.toContain("secret");
  const echo = 'print("collector-password")';
  expect((await runProcess(["run", "-e", echo], { cwd: project(), env })).stdout).toBe("[redacted]\n");
});

test("refuses a protocol that it does not have [O4]", async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" };
  const { exit, stdout, stderr } = await runProcess(["run", "-e", "6 * 7"], { cwd: project(), env });
  expect([exit, stdout]).toEqual([0, "42\n"]);
  expect(stderr).toContain('Cannot export traces over "grpc"');
  expect(stderr).toContain("Set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf or http/json");
});

test.each(["localhost:4318", "collector", "ftp://collector"])(
  "does not export to %s, and says why [O4]",
  async (endpoint) => {
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint };
    const { exit, stdout, stderr } = await runProcess(["run", "-e", "6 * 7"], { cwd: project(), env });
    expect([exit, stdout]).toEqual([0, "42\n"]);
    expect(stderr).toContain("Cannot export traces: the endpoint is not a URL of HTTP");
    expect(stderr).toContain("Write OTEL_EXPORTER_OTLP_ENDPOINT as http://localhost:4318, with http:// or https://");
  },
);

test("ends although no collector answers [O4]", async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
  expect(await runProcess(["run", "-e", "6 * 7"], { cwd: project(), env })).toMatchObject({ exit: 0, stdout: "42\n" });
});

test("loads no package of OpenTelemetry and no log library unless it is needed [O4]", async () => {
  const cwd = project();
  const loads = (env: NodeJS.ProcessEnv): string => {
    const args = ["-r", resolve("test/fixtures/report-telemetry.cjs"), BIN, "run", "-e", "1"];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, env: environment(cwd, env), encoding: "utf8" });
    expect(stdout).toBe("1\n");
    return stderr;
  };
  expect(loads({})).toBe("");
  const collector = await startCollector();
  expect(loads({ ...collector.env, OTEL_SDK_DISABLED: "" })).toContain("loads @opentelemetry/api");
});

test("docs/telemetry.md lists every metric [O4]", () => {
  const source = readFileSync("src/telemetry/metrics.ts", "utf8");
  const created = new Set(Array.from(source.matchAll(/create\w+\("([a-z_.]+)"/g), ([, name]) => name));
  const table = readFileSync("docs/telemetry.md", "utf8").split("\n## Metrics\n")[1]?.split("\n## ")[0] ?? "";
  expect(created).toContain("skillgate.run.duration");
  expect(new Set(Array.from(table.matchAll(/^\| `([a-z_.]+)`/gm), ([, name]) => name))).toEqual(created);
});
