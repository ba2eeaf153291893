import { hostname } from "node:os";
import { resolve } from "node:path";

import { sentence } from "../../errors.ts";
import type { ExecutorSettings } from "../../executors/index.ts";
import { isRecord, type JsonSchema } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import type { NetworkSettings } from "../../network/index.ts";
import type { NodeSettings } from "../../providers/nodes/index.ts";
import { ANY_DEVICE, isDeviceName, toDeviceName } from "../../shared/names/method-paths.ts";

const DEFAULT_SILENCE_SECONDS = 15;
const MAX_SILENCE_SECONDS = 3_600;
const MAX_CONCURRENCY = 10_000;
const DEFAULT_CONCURRENCY = 1_000;

/** The settings of a section: what each must be, its test, and its JSON Schema. */
export type Forms = Readonly<
  Record<string, readonly [form: string, isValid: (value: unknown) => boolean, schema: JsonSchema]>
>;

const TEXT: JsonSchema = { type: "string", pattern: "\\S" };
/** An address may come from a variable: `${NATS_URL}`. */
const ADDRESS: JsonSchema = { type: "string", pattern: "^\\S+$" };
const TEXTS: JsonSchema = { type: "array", items: TEXT };

const NETWORK_FORMS: Forms = {
  url: [
    "an address such as nats://host:4222, or a list of them",
    (value) => isAddresses(toList(value)),
    {
      anyOf: [ADDRESS, { type: "array", items: ADDRESS, minItems: 1 }],
    },
  ],
  credentials: ["a file of NATS credentials", isText, TEXT],
  name: [
    `a name with a letter or a digit, and not ${ANY_DEVICE}, which stands for all machines`,
    (value) => isText(value) && !["", ANY_DEVICE].includes(toDeviceName(value)),
    TEXT,
  ],
  key: ["a file with a private key", isText, TEXT],
  peers: ["a section of public keys by device name", isPeers, { type: "object", additionalProperties: TEXT }],
  silenceSeconds: [
    "a number of seconds above 0",
    (value) => typeof value === "number" && value > 0 && value <= MAX_SILENCE_SECONDS,
    {
      type: "number",
      exclusiveMinimum: 0,
      maximum: MAX_SILENCE_SECONDS,
      default: DEFAULT_SILENCE_SECONDS,
    },
  ],
};

export const NODE_FORMS: Forms = {
  ...NETWORK_FORMS,
  offer: ["a list of patterns such as MusicSkill.*", isTexts, TEXTS],
  scopes: ["a list of scopes", isTexts, { ...TEXTS, default: [] }],
};

export const EXECUTOR_FORMS: Forms = {
  ...NETWORK_FORMS,
  concurrency: [
    `a whole number of runs from 1 to ${MAX_CONCURRENCY}`,
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_CONCURRENCY,
    { type: "integer", minimum: 1, maximum: MAX_CONCURRENCY, default: DEFAULT_CONCURRENCY },
  ],
};

interface Parsed<Settings> {
  /** `undefined` without an address, and if a setting is invalid: a setting of trust is never left out silently. */
  readonly settings: Settings | undefined;
  readonly problems: readonly Problem[];
}

export type ParsedNodeSettings = Parsed<NodeSettings>;
export type ParsedExecutorSettings = Parsed<ExecutorSettings>;

interface ParseContext {
  readonly cwd: string;
  /** Replaces the variables in a text. */
  readonly fillIn: (text: string) => string;
}

/** Parses the section `nodes` of the settings. */
export function parseNodeSettings(section: unknown, context: ParseContext): ParsedNodeSettings {
  const { network, values, problems } = parseNetwork("nodes", { section, forms: NODE_FORMS }, context);
  const { offer, scopes = [] } = values;
  const settings = network && {
    ...network,
    scopes: scopes as string[],
    ...(offer !== undefined && { offer: offer as string[] }),
  };
  return { settings, problems };
}

/** Parses the section `executors` of the settings. */
export function parseExecutorSettings(section: unknown, context: ParseContext): ParsedExecutorSettings {
  const { network, values, problems } = parseNetwork("executors", { section, forms: EXECUTOR_FORMS }, context);
  const { concurrency = DEFAULT_CONCURRENCY } = values;
  return { settings: network && { ...network, concurrency: Number(concurrency) }, problems };
}

interface ParsedNetwork {
  readonly network: NetworkSettings | undefined;
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

function parseNetwork(
  title: string,
  { section, forms }: { readonly section: unknown; readonly forms: Forms },
  { cwd, fillIn }: ParseContext,
): ParsedNetwork {
  if (section === undefined || section === null) return { network: undefined, values: {}, problems: [] };
  if (!isRecord(section))
    return { network: undefined, values: {}, problems: [problem(`${title} must be a section with a url`)] };
  const values = Object.fromEntries(Object.entries(section).map(([name, value]) => [name, fillTexts(value, fillIn)]));
  values["name"] ??= toDeviceName(hostname()) === "" ? "device" : hostname();
  const problems = Object.entries(values).flatMap(([name, value]) => {
    const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
    if (form === undefined) return [problem(`${title} has no setting ${JSON.stringify(name)}`)];
    return form[1](value) ? [] : [problem(`${title}.${name} must be ${form[0]}`)];
  });
  if (problems.length > 0 || values["url"] === undefined) return { network: undefined, values, problems };
  const { url, credentials, name, key, peers = {}, silenceSeconds } = values;
  const seconds = typeof silenceSeconds === "number" ? silenceSeconds : DEFAULT_SILENCE_SECONDS;
  const network: NetworkSettings = {
    servers: toList(url) as string[],
    title: String(name),
    device: toDeviceName(String(name)),
    peers: new Map(Object.entries(peers as Readonly<Record<string, string>>)),
    silenceMs: seconds * 1_000,
    ...(typeof credentials === "string" && { credentials: resolve(cwd, credentials) }),
    ...(typeof key === "string" && { keyFile: resolve(cwd, key) }),
  };
  return { network, values, problems };
}

function problem(what: string): Problem {
  return { source: "settings.yaml", error: sentence("CONFIG_INVALID", what) };
}

function fillTexts(value: unknown, fillIn: (text: string) => string): unknown {
  if (typeof value === "string") return fillIn(value);
  return Array.isArray(value) ? value.map((item) => fillTexts(item, fillIn)) : value;
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function isAddresses(values: readonly unknown[]): boolean {
  return values.length > 0 && values.every((value) => isText(value) && !/\s|\$\{/.test(value));
}

function isPeers(value: unknown): boolean {
  return isRecord(value) && Object.entries(value).every(([name, key]) => isDeviceName(name) && isText(key));
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
