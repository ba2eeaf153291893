import { validateHeaderName } from "node:http";

import { createSettingsProblem } from "./runtime-settings.ts";
import { findSourceNameFlaw } from "./sources.ts";
import {
  type AccountDefinition,
  findValueFlaw,
  isFromSettings,
  listDefinedSecrets,
  type OAuthDefinition,
  type StaticDefinition,
} from "../../accounts/index.ts";
import { ACCOUNT_TYPE_SETTINGS, fillIn, RUNTIME_SECTION_SCHEMAS, type Variables } from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import { findSettingMistakes } from "../../shared/settings/check-settings.ts";
import type { AccountSettings } from "../options.ts";

/** Parses the section `accounts`. An account with a mistake is a problem, and is left out. */
export function parseAccounts(section: unknown, { variables }: { readonly variables: Variables }): ParsedAccounts {
  if (section === undefined || section === null) return { accounts: [], secrets: [], problems: [] };
  if (!isRecord(section)) {
    const problem = createSettingsProblem("accounts must have accounts by name");
    return { accounts: [], secrets: [], problems: [problem] };
  }
  const accounts: AccountDefinition[] = [];
  const problems: Problem[] = [];
  for (const [name, written] of Object.entries(section)) {
    const { account, flaws, remarks } = parseAccount(name, written, variables);
    if (account !== undefined && flaws.length === 0) accounts.push(account);
    problems.push(...[...flaws, ...remarks].map(createSettingsProblem));
  }
  return { accounts, secrets: accounts.flatMap(listDefinedSecrets), problems };
}

interface ParsedAccounts {
  readonly accounts: readonly AccountDefinition[];
  /** Values that no text may show. */
  readonly secrets: readonly string[];
  readonly problems: readonly Problem[];
}

interface ParsedAccount {
  readonly account?: AccountDefinition;
  /** Mistakes, with which the account is left out. */
  readonly flaws: readonly string[];
  /** Problems of an account that stays. */
  readonly remarks: readonly string[];
}

function parseAccount(name: string, written: unknown, variables: Variables): ParsedAccount {
  const mistakes = findAccountMistakes(name, written);
  if (mistakes.length > 0) return { flaws: mistakes, remarks: [] };
  const [missing, missingSecrets] = [new Set<string>(), new Set<string>()];
  const filled = fillSettings(written as AccountSettings, (text, key) =>
    fillIn(text, variables, SECRETS.has(key) ? missingSecrets : missing),
  );
  const toProblems = (unset: ReadonlySet<string>): readonly string[] =>
    [...unset].map((what) => `accounts.${name}: ${what} is not set`);
  if (missing.size > 0) return { flaws: toProblems(missing), remarks: [] };
  const account = toDefinition(name, filled);
  const flaws = findFilledFlaws(account, filled, written as AccountSettings);
  if (missingSecrets.size === 0) return { account, flaws, remarks: [] };
  const unset = `${[...missingSecrets].join(" and ")} is not set`;
  return { account: { ...account, unset }, flaws, remarks: toProblems(missingSecrets) };
}

/** An account without its secrets stays known: executors do not have them, and errors say what is missing. */
const SECRETS: ReadonlySet<string> = new Set(["value", "token", "username", "password", "clientSecret"]);

/** Lists the mistakes of an account of the settings, as it is written. */
export function findAccountMistakes(name: string, written: unknown): readonly string[] {
  const flaw = findSourceNameFlaw(name, "an account");
  if (flaw !== undefined) return [flaw];
  const mistakes = findSettingMistakes(RUNTIME_SECTION_SCHEMAS.accounts, { [name]: written }, ["accounts"]);
  if (mistakes.length > 0) return mistakes.map(({ error }) => error);
  const settings = written as AccountSettings;
  const where = `accounts.${name}`;
  const commands = Object.entries(settings).filter(([, value]) => JSON.stringify(value).includes("${cmd:"));
  return [
    ...findForeignSettings(settings, where),
    ...findMissingSettings(settings, where),
    ...commands.map(([key]) => `${where}.${key} cannot have \${cmd:…}; write a variable, as in \${NAME}`),
  ];
}

/** Lists the settings that another type has. */
function findForeignSettings(settings: AccountSettings, where: string): readonly string[] {
  return Object.keys(settings).flatMap((key) => {
    const types = Object.entries(ACCOUNT_TYPE_SETTINGS).flatMap(([type, keys]) =>
      (keys as readonly string[]).includes(key) ? [type] : [],
    );
    if (types.length === 0 || types.includes(settings.type)) return [];
    return [`${where}.${key} is a setting of the type ${types.join(" or ")}, and the type is ${settings.type}`];
  });
}

/** Lists the settings that a type needs. */
function findMissingSettings(settings: AccountSettings, where: string): readonly string[] {
  const { type, issuer, authorizationUrl, tokenUrl, deviceUrl, grant = "code" } = settings;
  const isAbsent = (key: keyof AccountSettings): boolean => settings[key] === undefined;
  if (type === "apiKey")
    return (["in", "name"] as const).filter(isAbsent).map((key) => `${where}.${key} is required for the type apiKey`);
  if (type === "basic" && isAbsent("username") !== isAbsent("password"))
    return [`${where} must have both username and password, or none of them if it is connected later`];
  if (type !== "oauth") return [];
  const urls = { code: authorizationUrl, device: deviceUrl, client: tokenUrl };
  const first = { code: "authorizationUrl and ", device: "deviceUrl and ", client: "" }[grant];
  return [
    ...(isAbsent("clientId") ? [`${where}.clientId is required for the type oauth`] : []),
    ...(issuer === undefined && (tokenUrl === undefined || urls[grant] === undefined)
      ? [`${where} must have an issuer, or ${first}tokenUrl`]
      : []),
  ];
}

/** `fill` gets a text and the name of its setting. */
function fillSettings(settings: AccountSettings, fill: (text: string, key: string) => string): AccountSettings {
  const fillMember = (value: unknown, key: string): unknown => {
    if (typeof value === "string") return fill(value, key);
    if (Array.isArray(value)) return value.map((item) => fillMember(item, key));
    return isRecord(value)
      ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillMember(item, key)]))
      : value;
  };
  const filled = Object.entries(settings).map(([key, value]) => [key, fillMember(value, key)]);
  return Object.fromEntries(filled) as AccountSettings; // it has the same shape
}

function toDefinition(name: string, settings: AccountSettings): AccountDefinition {
  const { type, servers = [], reveal = [], private: isPrivate = false, test } = settings;
  const common = {
    name,
    servers: servers.map((server) => (URL.canParse(server) ? new URL(server).origin : server)),
    reveal,
    isPrivate,
    ...(test !== undefined && { test }),
  };
  const own = type === "oauth" ? toOAuth(settings) : toStatic(settings);
  const isOfAll = isFromSettings({ ...common, ...own, isPerCaller: false });
  return { ...common, ...own, isPerCaller: settings.for === undefined ? !isOfAll : settings.for === "caller" };
}

type OwnSettings<Definition> = Definition extends AccountDefinition
  ? Omit<Definition, Exclude<keyof AccountDefinition, "type">>
  : never;

function toStatic(settings: AccountSettings): OwnSettings<StaticDefinition> {
  const { type, in: location = "header", name = [], prefix = "", value, token, username, password } = settings;
  if (type === "bearer") return { type, ...(token !== undefined && { values: [token] }) };
  if (type === "basic")
    return { type, ...(username !== undefined && password !== undefined && { values: [username, password] }) };
  return {
    type: "apiKey",
    in: location,
    names: toTexts(name),
    prefix,
    ...(value !== undefined && { values: toTexts(value) }),
  };
}

function toTexts(value: string | readonly string[]): readonly string[] {
  return typeof value === "string" ? [value] : value;
}

function toOAuth(settings: AccountSettings): OwnSettings<OAuthDefinition> {
  const { issuer, authorizationUrl, tokenUrl, deviceUrl, revocationUrl, clientSecret, audience, resource } = settings;
  const { grant = "code", clientId = "", clientAuth, scopes = [], parameters = {}, callbackPort } = settings;
  return {
    type: "oauth",
    grant,
    clientId,
    clientAuth: clientAuth ?? (clientSecret === undefined ? "none" : "basic"),
    scopes,
    parameters,
    ...(issuer !== undefined && { issuer }),
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(deviceUrl !== undefined && { deviceUrl }),
    ...(revocationUrl !== undefined && { revocationUrl }),
    ...(clientSecret !== undefined && { clientSecret }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(callbackPort !== undefined && { callbackPort }),
  };
}

const URLS = ["issuer", "authorizationUrl", "tokenUrl", "deviceUrl", "revocationUrl", "test"] as const;

/** Lists what can be seen only when the variables are filled in. The values are secret, so the texts have them as written. */
function findFilledFlaws(
  account: AccountDefinition,
  filled: AccountSettings,
  written: AccountSettings,
): readonly string[] {
  const where = `accounts.${account.name}`;
  const notUrl = (key: string, text: string): string =>
    `${where}.${key} has ${JSON.stringify(text)}, which is not ${URL_FORM}`;
  return [
    ...URLS.flatMap((key) =>
      filled[key] === undefined || isUrl(filled[key]) ? [] : [notUrl(key, written[key] ?? "")],
    ),
    ...(filled.servers ?? []).flatMap((server, at) =>
      isUrl(server) ? [] : [notUrl("servers", written.servers?.[at] ?? "")],
    ),
    ...(isFromSettings(account) && account.isPerCaller
      ? [
          `${where} has its credential in the settings, so it is for everyone; write for: everyone, or leave the credential out`,
        ]
      : []),
    ...(account.type === "oauth" ? findSecretFlaws(account, where) : findStaticFlaws(account, where)),
  ];
}

const URL_FORM = "a URL such as https://api.example.com";

function isUrl(text: string): boolean {
  if (!/^https?:/i.test(text) || !URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
}

function findSecretFlaws({ clientAuth, clientSecret, grant }: OAuthDefinition, where: string): readonly string[] {
  if (clientSecret !== undefined) return [];
  if (clientAuth !== "none") return [`${where}.clientAuth is ${clientAuth}, which needs a clientSecret`];
  return grant === "client" ? [`${where} has the grant client, which needs a clientSecret`] : [];
}

function findStaticFlaws(account: StaticDefinition, where: string): readonly string[] {
  const names = account.type === "apiKey" && (account.in === "header" || account.in === "cookie") ? account.names : [];
  const wrong = names.filter((name) => !canNameHeader(name));
  const flaw = wrong.length === 0 && account.values !== undefined ? findValueFlaw(account, account.values) : undefined;
  return [
    ...wrong.map((name) => `${where}.name has ${JSON.stringify(name)}, which cannot name a header or a cookie`),
    ...(flaw === undefined ? [] : [`${where}: ${flaw}`]),
  ];
}

/** Cookies have the same characters in their names. */
function canNameHeader(name: string): boolean {
  try {
    validateHeaderName(name);
    return true;
  } catch {
    return false;
  }
}
