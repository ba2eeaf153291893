import { getValueAt, isRecord, type JsonSchema, toRecord } from "../model/json.ts";
import type { Limits } from "../model/limits.ts";
import type { Problem } from "../model/provider.ts";
import type { Timeouts } from "../model/timeouts.ts";
import { findSettingMistakes, pickValidSettings, withForm } from "../shared/settings/check-settings.ts";
import { describeUnknownField, suggestNames } from "../shared/suggest.ts";
import { type ConfigDocument, parseDocument, type Path } from "./documents/index.ts";
import { configError } from "./read-file.ts";
import { parseInputs } from "./servers/inputs.ts";
import { RUNTIME_SECTION_SCHEMAS } from "./sections.ts";
import { readEntries, findEntry, type FileContent, NO_CONTENT } from "./servers/mcp-file.ts";
import type { ServerEntry } from "./servers/parse-entry.ts";

/** The parsed content of settings.yaml. */
export interface SettingsFile extends FileContent {
  /** Every section as it was written. */
  readonly sections: Readonly<Record<string, unknown>>;
  /** `mcp.enabled`: false switches all servers off, wherever they are declared. */
  readonly mcpEnabled: boolean;
  /** `skills.dir` */
  readonly skillsDir?: string;
  readonly limits?: Partial<Limits>;
  readonly timeouts?: Partial<Timeouts>;
}

/** The sections of settings.yaml. */
export const SECTIONS: readonly string[] = [...Object.keys(RUNTIME_SECTION_SCHEMAS), "server", "agent"];

export const NO_SETTINGS: SettingsFile = { ...NO_CONTENT, sections: {}, mcpEnabled: true };

/** Reads settings.yaml. A malformed one throws a `CONFIG_INVALID`; what is not understood in it is a warning. */
export function parseSettings(text: string, label: string): SettingsFile {
  return readSettings(parseDocument(text, label, "yaml"), label);
}

function readSettings(document: ConfigDocument, label: string): SettingsFile {
  const sections = renameOldSettings(document.value);
  const { mcp, skills, limits, timeouts } = sections;
  const skillsDir = isRecord(skills) ? skills["dir"] : skills;
  return {
    sections,
    entries: [...serversAt(document, ["mcp", "servers"], label), ...serversAt(document, ["mcpServers"], label)],
    inputs: parseInputs(isRecord(mcp) ? mcp : {}),
    warnings: findWarnings(sections, document, label),
    mcpEnabled: !(isRecord(mcp) && mcp["enabled"] === false),
    ...(typeof skillsDir === "string" && { skillsDir }),
    ...(isRecord(limits) && { limits: pickValidSettings<Limits>(RUNTIME_SECTION_SCHEMAS.limits, limits) }),
    ...(isRecord(timeouts) && { timeouts: pickValidSettings<Timeouts>(RUNTIME_SECTION_SCHEMAS.timeouts, timeouts) }),
  };
}

/** Reads settings by the names that they had before. */
function renameOldSettings(written: ConfigDocument["value"]): ConfigDocument["value"] {
  const { learning, ...sections } = written;
  const { runs } = sections;
  return {
    ...(learning !== undefined && { observe: learning }),
    ...sections,
    ...(isRecord(runs) && { runs: renameOldPasses(runs) }),
  };
}

/** Reads `learnedPasses` as `savedPasses`, its name now. */
export function renameOldPasses({
  learnedPasses,
  ...runs
}: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return { ...(learnedPasses !== undefined && { savedPasses: learnedPasses }), ...runs };
}

/** The servers at a path: a list of entries that say their names, or a map from names to entries. */
function serversAt(document: ConfigDocument, path: Path, label: string): readonly ServerEntry[] {
  const servers = getValueAt(document.value, path);
  if (!Array.isArray(servers)) return readEntries(document, path, label);
  return servers.map((entry: unknown, index) => {
    const name = isRecord(entry) ? entry["name"] : undefined;
    return findEntry(document, [...path, index], { name, entry, label });
  });
}

/** Reports what is not understood, which would otherwise be ignored. */
function findWarnings(sections: ConfigDocument["value"], document: ConfigDocument, label: string): readonly Problem[] {
  const warn = (path: Path, wrong: string): Problem => ({
    source: label,
    error: configError(label, wrong, document.locate(path)).message,
  });
  const { mcp, skills } = sections;
  const env = isRecord(skills) ? skills["env"] : undefined;
  const envSchema = toRecord(toRecord(RUNTIME_SECTION_SCHEMAS.skills["properties"])["env"]);
  const wrongEnv = env == null ? [] : findSettingMistakes(envSchema, env, ["skills", "env"]);
  // Other modules have keys of their own in this section, so only a near miss of a known key is reported.
  const misspelt = Object.keys(isRecord(mcp) ? mcp : {}).filter(
    (name) => !MCP_KEYS.includes(name) && suggestNames(name, MCP_KEYS, 1).length > 0,
  );
  return [
    ...Object.entries(sections).flatMap(([name, section]) => {
      const schema = CHECKED_SECTIONS[name];
      if (schema === undefined)
        return SECTIONS.includes(name) ? [] : [warn([name], `unknown section ${describeUnknownSection(name)}`)];
      const mistakes = section == null ? [] : findSettingMistakes(schema, section, [name]);
      return mistakes.map(({ path, error }) => warn(path, error));
    }),
    ...wrongEnv.map(({ path, error }) => warn(path, error)),
    ...misspelt.map((name) => warn(["mcp", name], `unknown setting ${describeUnknownField(name, MCP_KEYS)}`)),
  ];
}

/** How to set what people look for in a section of this file. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["policy", "write policies/tools.yaml"],
  ["telemetry", "set OTEL_EXPORTER_OTLP_ENDPOINT and other variables of OpenTelemetry"],
  ["keys", "run skillgate keys create"],
]);

function describeUnknownSection(name: string): string {
  const advice = ELSEWHERE.get(name);
  return advice === undefined ? describeUnknownField(name, SECTIONS) : `${name}; ${advice}`;
}

const SERVERS = withForm("a list of servers, as in [{ name: files, command: npx }], or a section with their names", {
  type: ["object", "array", "null"],
});

/** The sections that are checked when the file is read. The parsers of the others check what is in them. */
const CHECKED_SECTIONS: Readonly<Record<string, JsonSchema | undefined>> = {
  mcp: withForm("a section, as in mcp: { servers: [] }", { type: "object", properties: { servers: SERVERS } }),
  mcpServers: SERVERS,
  skills: withForm("a section, as in skills: { dir: skills }", { type: ["object", "string"] }),
  server: withForm("a section, as in server: { port: 3333 }", { type: "object" }),
  agent: withForm("a section, as in agent: { model: openai:gpt-5 }", { type: "object" }),
  ...pickSections("limits", "timeouts", "typecheck", "observe", "catalogTokens", "store", "audit"),
  ...pickSections("alerts"),
  ...pickSections("approvals", "automations", "runs", "secrets", "trust"),
};

function pickSections(...names: readonly (keyof typeof RUNTIME_SECTION_SCHEMAS)[]): Record<string, JsonSchema> {
  return Object.fromEntries(names.map((name) => [name, RUNTIME_SECTION_SCHEMAS[name]]));
}

const MCP_KEYS = ["servers", "enabled", "inputs"];
