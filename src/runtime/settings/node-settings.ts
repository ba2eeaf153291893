import { hostname } from "node:os";
import { resolve } from "node:path";

import { sentence } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import { ANY_DEVICE, isDeviceName, toDeviceName } from "../../shared/names/method-paths.ts";
import type { NodeSettings } from "../../providers/nodes/index.ts";

const DEFAULT_SILENCE_SECONDS = 15;

const FORMS: Readonly<Record<string, readonly [form: string, isValid: (value: unknown) => boolean]>> = {
  url: ["an address such as nats://host:4222, or a list of them", (value) => isAddresses(toList(value))],
  credentials: ["a file of NATS credentials", isText],
  name: [
    `a name with a letter or a digit, and not ${ANY_DEVICE}, which stands for all machines`,
    (value) => isText(value) && !["", ANY_DEVICE].includes(toDeviceName(value)),
  ],
  key: ["a file with a private key", isText],
  peers: ["a section of public keys by device name", isPeers],
  silenceSeconds: ["a number of seconds above 0", (value) => typeof value === "number" && value > 0 && value <= 3_600],
  offer: ["a list of patterns such as MusicSkill.*", isTexts],
  scopes: ["a list of scopes", isTexts],
};

export interface ParsedNodeSettings {
  /** `undefined` without an address, and if a setting is invalid: a setting of trust is never left out silently. */
  readonly settings: NodeSettings | undefined;
  readonly problems: readonly Problem[];
}

/** Parses the section `nodes` of the settings. `fillIn` replaces the variables in a text. */
export function parseNodeSettings(
  section: unknown,
  { cwd, fillIn }: { readonly cwd: string; readonly fillIn: (text: string) => string },
): ParsedNodeSettings {
  if (section === undefined || section === null) return { settings: undefined, problems: [] };
  if (!isRecord(section)) return { settings: undefined, problems: [problem("nodes must be a section with a url")] };
  const values = Object.fromEntries(Object.entries(section).map(([name, value]) => [name, fillTexts(value, fillIn)]));
  values["name"] ??= toDeviceName(hostname()) === "" ? "device" : hostname();
  const problems = Object.entries(values).flatMap(([name, value]) => {
    const form = Object.hasOwn(FORMS, name) ? FORMS[name] : undefined;
    if (form === undefined) return [problem(`nodes has no setting ${JSON.stringify(name)}`)];
    return form[1](value) ? [] : [problem(`nodes.${name} must be ${form[0]}`)];
  });
  if (problems.length > 0 || values["url"] === undefined) return { settings: undefined, problems };
  const { url, credentials, name, key, peers = {}, silenceSeconds, offer, scopes = [] } = values;
  const seconds = typeof silenceSeconds === "number" ? silenceSeconds : DEFAULT_SILENCE_SECONDS;
  return {
    problems,
    settings: {
      servers: toList(url) as string[],
      title: String(name),
      device: toDeviceName(String(name)),
      peers: new Map(Object.entries(peers as Readonly<Record<string, string>>)),
      silenceMs: seconds * 1_000,
      scopes: scopes as string[],
      ...(typeof credentials === "string" && { credentials: resolve(cwd, credentials) }),
      ...(typeof key === "string" && { keyFile: resolve(cwd, key) }),
      ...(offer !== undefined && { offer: offer as string[] }),
    },
  };
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
