import { readdirSync, readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { expect, test } from "vitest";

import { getBudgetLimits, parseAgentSettings } from "../../src/agent/index.ts";
import { parseSettings, SECTIONS } from "../../src/config/settings.ts";
import { isRecord, type JsonSchema } from "../../src/model/json.ts";
import { DEFAULT_LIMITS } from "../../src/model/limits.ts";
import { DEFAULT_TIMEOUTS } from "../../src/model/timeouts.ts";
import { resolveMcpOptions } from "../../src/runtime/mcp-options.ts";
import { parseExecutorSettings, parseNodeSettings } from "../../src/runtime/settings/network-settings.ts";
import { resolveSections } from "../../src/runtime/settings/sections.ts";
import { parseAccounts } from "../../src/runtime/settings/accounts.ts";
import { parseSources } from "../../src/runtime/settings/sources.ts";
import { createSettingsSchema } from "../../src/surfaces/cli/settings/schema.ts";
import { parseServerSettings, SERVER_DEFAULTS } from "../../src/surfaces/http/settings.ts";

const SCHEMA = JSON.parse(JSON.stringify(await createSettingsSchema())) as JsonSchema;
const validate = new Ajv({ allowUnionTypes: true }).compile(SCHEMA);
const SETTINGS = listSettings(SCHEMA);

test("describes each section and each setting that the code reads [O1]", () => {
  expect(Object.keys(SCHEMA["properties"] as object).toSorted()).toEqual(SECTIONS.toSorted());
  const paths = recordReads((settings) => {
    resolveSections({}, settings);
    resolveMcpOptions({}, { ...MCP_SCOPE, section: settings["mcp"] });
  });
  expect(paths).toContain("mcp.idle");
  expect(findUndescribed(paths)).toEqual([]);
});

test("finds a setting that the schema does not describe [O1]", () => {
  const paths = recordReads(({ approvals }) => isRecord(approvals) && approvals["tone"]);
  expect(findUndescribed(paths)).toEqual(["approvals.tone"]);
});

test("has the defaults of the code [O1]", () => {
  const defaults = collectDefaults(SCHEMA);
  const text = JSON.stringify({ limits: defaults["limits"], timeouts: defaults["timeouts"] });
  expect(parseSettings(text, "settings.yaml")).toMatchObject({ limits: DEFAULT_LIMITS, timeouts: DEFAULT_TIMEOUTS });
  expect(resolveSections({}, defaults)).toEqual(resolveSections({}, {}));
  expect(parseServerSettings(defaults["server"])).toEqual(SERVER_DEFAULTS);
  expect(resolveMcpOptions({}, { ...MCP_SCOPE, section: defaults["mcp"] })).toEqual(
    resolveMcpOptions({}, { ...MCP_SCOPE, section: {} }),
  );
  expect(getBudgetLimits(parseAgentSettings(defaults["agent"]))).toEqual(getBudgetLimits({}));
  const url = "nats://127.0.0.1";
  expect(parseNodeSettings({ url, ...toRecord(defaults["nodes"]) }, NETWORK)).toEqual(
    parseNodeSettings({ url }, NETWORK),
  );
  expect(parseExecutorSettings({ url, ...toRecord(defaults["executors"]) }, NETWORK)).toEqual(
    parseExecutorSettings({ url }, NETWORK),
  );
});

test("finds a default that is not the default of the code [O1]", () => {
  const { server } = collectDefaults(SCHEMA);
  expect(parseServerSettings({ ...toRecord(server), port: 3334 })).not.toEqual(SERVER_DEFAULTS);
});

/** Settings that the code takes as they are, or of which it ignores a value of another type. */
const UNCHECKED = new Set(
  "skills.dir mcp.servers mcp.enabled mcp.inputs mcp.idle mcpServers typecheck store.dir store.url".split(" "),
);

const VALUES = [true, false, 0, 1, -1, 0.5, 1.5, 1e9, "", " ", "x", "off", "ask", [], ["x"], [1], {}];

test.each(SETTINGS.filter(({ path }) => !UNCHECKED.has(path) && !path.includes("NAME")))(
  "accepts the values of $path that its parser accepts [O1]",
  ({ path, schema }) => {
    const { enum: choices, minimum, maximum } = schema as { enum?: unknown[]; minimum?: number; maximum?: number };
    const bounds = [minimum, maximum].flatMap((each) => (each === undefined ? [] : [each - 1, each, each + 1]));
    for (const value of [...VALUES, ...(choices ?? []), ...bounds]) {
      const settings = nest(path.split("."), value);
      expect({ settings, isValid: validate(settings) }).toEqual({ settings, isValid: isAccepted(settings) });
    }
  },
);

test("accepts the settings in the documentation [O1]", () => {
  const pages = ["README.md", "docs/skills.md", ...readdirSync("docs").map((name) => `docs/${name}`)];
  const blocks = pages
    .filter((page) => page.endsWith(".md"))
    .flatMap((page) => [...readFileSync(page, "utf8").matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => text));
  const samples = blocks.map((text) => parse(text) as unknown).filter(isSettings);
  expect(samples.length).toBeGreaterThan(10);
  expect(samples.filter((sample) => !validate(sample))).toEqual([]);
});

const NETWORK = { cwd: "/", fillIn: (text: string) => text };
const MCP_SCOPE = { cwd: "/", env: {}, discover: false, lazy: false };

/** Whether the parsers of the sections report nothing. */
function isAccepted(settings: Readonly<Record<string, unknown>>): boolean {
  try {
    parseServerSettings(settings["server"]);
    parseAgentSettings(settings["agent"]);
    resolveMcpOptions({}, { ...MCP_SCOPE, section: settings["mcp"] });
    const { warnings } = parseSettings(JSON.stringify(settings), "settings.yaml");
    const { problems } = resolveSections({}, settings);
    const nodes = parseNodeSettings(settings["nodes"], NETWORK);
    const executors = parseExecutorSettings(settings["executors"], NETWORK);
    const sources = parseSources(settings["sources"], { cwd: "/", variables: () => undefined });
    const accounts = parseAccounts(settings["accounts"], { variables: () => undefined });
    return [warnings, problems, nodes.problems, executors.problems, sources.problems, accounts.problems].every(
      (found) => found.length === 0,
    );
  } catch {
    return false;
  }
}

interface Setting {
  readonly path: string;
  readonly schema: JsonSchema;
}

/** Returns the settings of all sections: `limits.cpuMs`, `store.keep.runDays`. */
function listSettings(schema: JsonSchema, prefix = ""): readonly Setting[] {
  const own = Object.entries(toRecord(schema["properties"])).flatMap(([name, each]) => {
    const path = `${prefix}${name}`;
    const members = listSettings(toRecord(each), `${path}.`);
    return members.length > 0 ? members : [{ path, schema: toRecord(each) }];
  });
  const choices = Array.isArray(schema["anyOf"]) ? schema["anyOf"].map(toRecord) : [];
  return [...own, ...choices.flatMap((choice) => listSettings(choice, prefix))];
}

function collectDefaults(schema: JsonSchema): Readonly<Record<string, unknown>> {
  const defaults: Record<string, Record<string, unknown>> = {};
  for (const { path, schema: setting } of listSettings(schema)) {
    const [section = "", name, ...others] = path.split(".");
    if (name === undefined || others.length > 0 || !("default" in setting)) continue;
    (defaults[section] ??= {})[name] = setting["default"];
  }
  const scalars = Object.entries(toRecord(schema["properties"])).flatMap(([name, each]) =>
    isRecord(each) && "default" in each ? [[name, each["default"]] as const] : [],
  );
  return { ...defaults, ...Object.fromEntries(scalars) };
}

/** Records which settings a function reads; sections in sections have the name `keep`. */
function recordReads(read: (settings: Readonly<Record<string, unknown>>) => unknown): readonly string[] {
  const paths = new Set<string>();
  const record = (prefix: string, isSection: boolean): Readonly<Record<string, unknown>> =>
    new Proxy(
      {},
      {
        get(_target, name) {
          if (typeof name === "symbol") return undefined;
          paths.add(`${prefix}${name}`);
          return isSection || name === "keep" ? record(`${prefix}${name}.`, false) : undefined;
        },
      },
    );
  read(record("", true));
  return [...paths];
}

function findUndescribed(paths: readonly string[]): readonly string[] {
  const described = SETTINGS.map(({ path }) => path);
  const isDescribed = (path: string): boolean => described.some((each) => each === path || each.startsWith(`${path}.`));
  return paths.filter((path) => !isDescribed(path));
}

function isSettings(value: unknown): value is Readonly<Record<string, unknown>> {
  return isRecord(value) && Object.keys(value).every((name) => SECTIONS.includes(name));
}

function nest(path: readonly string[], value: unknown): Readonly<Record<string, unknown>> {
  const [name = "", ...others] = path;
  return { [name]: others.length === 0 ? value : nest(others, value) };
}

function toRecord(value: unknown): JsonSchema {
  return isRecord(value) ? value : {};
}
