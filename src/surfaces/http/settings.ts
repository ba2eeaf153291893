import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { suggestNames } from "../../shared/suggest.ts";
import { EXPOSES, type Exposure } from "../mcp/index.ts";

/** Everything that `server:` in settings.yaml may say. */
export interface HttpServerSettings extends Exposure {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** `false` lets in whoever can reach the port. */
  readonly auth: boolean;
  /** Names besides those of this machine under which clients may call the server. */
  readonly allowedHosts: readonly string[];
  /** Origins besides those of this machine from which browsers may call the server: `https://example.com`. */
  readonly allowedOrigins: readonly string[];
  readonly bodyBytes: number;
  readonly headerBytes: number;
  /** For the whole of a request to arrive. */
  readonly requestSeconds: number;
  /** Sessions at once. */
  readonly sessions: number;
  readonly sessionIdleSeconds: number;
  /** What is under way when the server ends may go on for so long. */
  readonly drainSeconds: number;
}

export const SERVER_DEFAULTS: HttpServerSettings = Object.freeze({
  host: "127.0.0.1",
  port: 3333,
  auth: true,
  expose: "auto",
  names: "qualified",
  budgetTokens: 3_000,
  allowedHosts: Object.freeze([]),
  allowedOrigins: Object.freeze([]),
  bodyBytes: 4 << 20,
  headerBytes: 16 << 10,
  requestSeconds: 30,
  sessions: 256,
  sessionIdleSeconds: 1_800,
  drainSeconds: 10,
});

/** The section `server` of the settings, with defaults; throws `CONFIG_INVALID` for what cannot be meant. */
export function parseServerSettings(section: unknown): HttpServerSettings {
  if (section == null) return SERVER_DEFAULTS;
  if (!isRecord(section)) throw wrong("server must be a section");
  for (const [name, value] of Object.entries(section)) {
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof HttpServerSettings] : undefined;
    if (field === undefined) throw wrong(`there is no server.${name}${meant(name)}`);
    if (!field.fits(value)) throw wrong(`server.${name} must be ${field.wanted}, not ${JSON.stringify(value)}`);
  }
  return { ...SERVER_DEFAULTS, ...section };
}

interface SettingField {
  readonly wanted: string;
  readonly fits: (value: unknown) => boolean;
}

const TEXTS: SettingField = {
  wanted: "a list of texts",
  fits: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};

const FIELDS: Readonly<Record<keyof HttpServerSettings, SettingField>> = {
  host: { wanted: "a name or an address", fits: (value) => typeof value === "string" && value !== "" },
  port: wholeNumber(0, 65_535),
  auth: { wanted: "true or false", fits: (value) => typeof value === "boolean" },
  expose: choice(EXPOSES),
  names: choice(["qualified", "raw"]),
  budgetTokens: wholeNumber(0),
  allowedHosts: TEXTS,
  allowedOrigins: TEXTS,
  bodyBytes: wholeNumber(1),
  headerBytes: wholeNumber(1_024),
  requestSeconds: wholeNumber(1, 86_400),
  sessions: wholeNumber(1),
  sessionIdleSeconds: wholeNumber(1),
  drainSeconds: wholeNumber(0, 86_400),
};

function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER): SettingField {
  return {
    wanted: `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? "" : ` to ${most}`}`,
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  };
}

function choice(values: readonly string[]): SettingField {
  return { wanted: values.join(", "), fits: (value) => typeof value === "string" && values.includes(value) };
}

function meant(name: string): string {
  const [near] = suggestNames(name, Object.keys(FIELDS), 1);
  return near === undefined ? "" : `, did you mean ${near}`;
}

function wrong(what: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", what));
}
