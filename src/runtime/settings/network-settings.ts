import { hostname } from "node:os";
import { resolve } from "node:path";

import { createSettingsProblem } from "./runtime-settings.ts";
import { RUNTIME_SECTION_SCHEMAS } from "../../config/index.ts";
import type { ExecutorSettings } from "../../executors/index.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import type { NetworkSettings } from "../../network/index.ts";
import type { NodeSettings } from "../../providers/nodes/index.ts";
import { ANY_DEVICE, isDeviceName, toDeviceName } from "../../shared/names/method-paths.ts";
import { findSettingMistakes, readSettings } from "../../shared/settings/check-settings.ts";

interface Parsed<Settings> {
  /** `undefined` without an address, and if a setting is invalid: a setting of trust is never left out silently. */
  readonly settings: Settings | undefined;
  readonly problems: readonly Problem[];
}

export type ParsedNodeSettings = Parsed<NodeSettings>;
export type ParsedExecutorSettings = Parsed<ExecutorSettings>;

interface ParseContext {
  readonly cwd: string;
  /** Replaces the variables in a text, and adds those that are not set to `missing`. */
  readonly fillIn: (text: string, missing: Set<string>) => string;
}

/** The valid content of a section, with its defaults. */
interface NetworkSection {
  readonly url: string | readonly string[];
  readonly name: string;
  readonly credentials?: string;
  readonly key?: string;
  readonly peers?: Readonly<Record<string, string>>;
  readonly silenceSeconds: number;
}

/** Parses the section `nodes` of the settings. */
export function parseNodeSettings(section: unknown, context: ParseContext): ParsedNodeSettings {
  const { settings, problems } = parseSection<NetworkSection & Pick<NodeSettings, "offer" | "scopes">>(
    "nodes",
    section,
    context,
  );
  if (settings === undefined) return { settings, problems };
  const { offer, scopes } = settings;
  return { settings: { ...toNetwork(settings, context), scopes, ...(offer !== undefined && { offer }) }, problems };
}

/** Parses the section `executors` of the settings. */
export function parseExecutorSettings(section: unknown, context: ParseContext): ParsedExecutorSettings {
  const { settings, problems } = parseSection<NetworkSection & Pick<ExecutorSettings, "concurrency">>(
    "executors",
    section,
    context,
  );
  if (settings === undefined) return { settings, problems };
  return { settings: { ...toNetwork(settings, context), concurrency: settings.concurrency }, problems };
}

function parseSection<Section extends NetworkSection>(
  title: "nodes" | "executors",
  section: unknown,
  { fillIn }: ParseContext,
): Parsed<Section> {
  if (section === undefined || section === null) return { settings: undefined, problems: [] };
  if (!isRecord(section))
    return { settings: undefined, problems: [createSettingsProblem(`${title} must be a section with a url`)] };
  const missing = new Set<string>();
  const fill = (text: string): string => fillIn(text, missing);
  const values = Object.fromEntries(Object.entries(section).map(([name, value]) => [name, fillTexts(value, fill)]));
  values["name"] ??= toDeviceName(hostname()) === "" ? "device" : hostname();
  const schema = RUNTIME_SECTION_SCHEMAS[title];
  const unset = [...missing].map((what) => `${title}: ${what} is not set`);
  const mistakes = findSettingMistakes(schema, values, [title]).map(({ error }) => error);
  const found = [unset, mistakes, findFlaws(title, values)].find(({ length }) => length > 0) ?? [];
  const problems = found.map(createSettingsProblem);
  const isUsable = problems.length === 0 && values["url"] !== undefined;
  return { settings: isUsable ? readSettings<Section>(schema, values) : undefined, problems };
}

/** Finds what a schema cannot describe. */
function findFlaws(title: string, { name, peers }: Readonly<Record<string, unknown>>): readonly string[] {
  const isUnusable = ["", ANY_DEVICE].includes(toDeviceName(String(name)));
  const isForeign = isRecord(peers) && !Object.keys(peers).every(isDeviceName);
  return [
    ...(isUnusable
      ? [`${title}.name must be a name with a letter or a digit, and not ${ANY_DEVICE}, which stands for all machines`]
      : []),
    ...(isForeign ? [`${title}.peers must be a section of public keys by device name`] : []),
  ];
}

function toNetwork(section: NetworkSection, { cwd }: ParseContext): NetworkSettings {
  const { url, name, credentials, key, peers = {}, silenceSeconds } = section;
  return {
    servers: [url].flat(),
    title: name,
    device: toDeviceName(name),
    peers: new Map(Object.entries(peers)),
    silenceMs: silenceSeconds * 1_000,
    ...(credentials !== undefined && { credentials: resolve(cwd, credentials) }),
    ...(key !== undefined && { keyFile: resolve(cwd, key) }),
  };
}

function fillTexts(value: unknown, fillIn: (text: string) => string): unknown {
  if (typeof value === "string") return fillIn(value);
  return Array.isArray(value) ? value.map((item) => fillTexts(item, fillIn)) : value;
}
