import { readFile } from "node:fs/promises";
import { relative } from "node:path";

import { AGENT_SCHEMA } from "../../../agent/index.ts";
import { maskEntry, parseDocument, RUNTIME_SECTION_SCHEMAS } from "../../../config/index.ts";
import { isRecord, type JsonSchema, toRecord } from "../../../model/json.ts";
import { SERVER_SCHEMA } from "../../http/index.ts";
import type { Endpoints } from "../endpoints.ts";
import type { SettingRow, SettingsReport } from "../messages.ts";
import type { ConsoleServices } from "../services.ts";

const SCHEMAS = { ...RUNTIME_SECTION_SCHEMAS, server: SERVER_SCHEMA, agent: AGENT_SCHEMA };

/** The settings that are in force, each with the place that its value comes from. */
export function createSettingsEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /settings": async ({ view }): Promise<SettingsReport> => {
      const { sections } = view.admin("Read");
      const rows = Object.entries<JsonSchema>(SCHEMAS).flatMap(([name, schema]) =>
        listRows([name], schema, sections[name]),
      );
      const locate = await createLocator(services);
      const used = { limits: view.shared.limits, timeouts: view.shared.timeouts, server: services.http.settings };
      return {
        file: services.config === undefined ? null : getLabel(services.config),
        rows: view.secrets.maskTexts(rows.map((row) => toRow(row, used, locate))),
      };
    },
  };
}

interface ReadSetting {
  readonly path: readonly string[];
  readonly description: string;
  readonly written: unknown;
  readonly preset: unknown;
}

/** Lists the settings of a section and of the sections in it. A map of names to entries is one setting. */
function listRows(path: readonly string[], schema: JsonSchema, written: unknown): readonly ReadSetting[] {
  const forms: readonly JsonSchema[] = [
    schema,
    ...(Array.isArray(schema["anyOf"]) ? (schema["anyOf"] as JsonSchema[]) : []),
  ];
  const properties = forms.map((form) => form["properties"]).find(isRecord);
  if (properties === undefined || (written !== undefined && written !== null && !isRecord(written)))
    return [{ path, description: readDescription(schema), written, preset: schema["default"] }];
  const values = toRecord(written);
  const others = Object.keys(values).filter((name) => !Object.hasOwn(properties, name));
  return [
    ...Object.entries(properties).flatMap(([name, member]) =>
      listRows([...path, name], toRecord(member), values[name]),
    ),
    ...others.map((name) => ({ path: [...path, name], description: "", written: values[name], preset: undefined })),
  ];
}

function readDescription({ description }: JsonSchema): string {
  return typeof description === "string" ? description : "";
}

type LocateSetting = (path: readonly string[]) => string;

function toRow({ path, description, written, preset }: ReadSetting, used: object, locate: LocateSetting): SettingRow {
  const name = path.join(".");
  const [section = "", key = ""] = path;
  const inUse = path.length === 2 ? toRecord(toRecord(used)[section])[key] : undefined;
  const value = written ?? preset;
  const isOverruled = inUse !== undefined && JSON.stringify(inUse) !== JSON.stringify(value);
  const source = isOverruled ? "option" : written === undefined ? (preset === undefined ? "unset" : "default") : "file";
  const last = path.at(-1) ?? "";
  const current = isOverruled ? inUse : value;
  const masked = current === undefined ? null : toRecord(maskEntry({ [last]: current }))[last];
  return { name, description, value: masked, source, place: source === "file" ? locate(path) : "" };
}

function getLabel({ options, settingsFile }: NonNullable<ConsoleServices["config"]>): string {
  return relative(options.cwd, settingsFile);
}

/** Returns the function that finds a setting in the file: `settings.yaml:12`. */
async function createLocator({ config }: ConsoleServices): Promise<LocateSetting> {
  if (config === undefined) return () => "";
  const label = getLabel(config);
  try {
    const document = parseDocument(await readFile(config.settingsFile, "utf8"), label, "yaml");
    return (path) => `${label}:${document.locate(path).line}`;
  } catch {
    return () => label; // the file is gone or broken since the server has read it, which the overview says
  }
}
