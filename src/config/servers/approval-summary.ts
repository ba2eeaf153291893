import { isRecord } from "../../model/json.ts";
import { isSecretName } from "../../shared/masks/secret-name.ts";
import { MASK, maskText, quoted } from "../shown.ts";
import { getAddress, getCommandWords, isWord } from "./entry-keys.ts";

/**
 * Everything that decides what an entry starts, and where secrets are sent, for the person who has to allow that. A mask
 * could hide a command: only what no program can run is masked.
 */
export function describeStart(entry: unknown): string {
  if (!isRecord(entry)) return "";
  const { command, cwd, envFile } = entry;
  const address = getAddress(entry);
  const headers = [entry["headers"], entry["http_headers"], entry["env_http_headers"]].flatMap(toPairs);
  if (command === undefined && address !== undefined)
    return [
      quoted(address),
      ...headers.map(([name, value]) => `with ${name}: ${maskText(value)}`),
      ...(isWord(entry["account"]) ? [`with the account ${quoted(String(entry["account"]))}`] : []),
      ...describePassedHeaders(entry["passHeaders"]),
      ...describeIdentityProvider(entry["oauth"]),
    ].join(" ");
  const variables = [isRecord(command) ? command["env"] : undefined, entry["environment"], entry["env"]].flatMap(
    toPairs,
  );
  return [
    ...variables.map(([name, value]) => `${name}=${isSecretName(name) && isPlainWord(value) ? MASK : quoted(value)}`),
    ...getCommandWords(entry).map(quoted),
    ...(isWord(cwd) ? [`in ${quoted(String(cwd))}`] : []),
    ...(isWord(envFile) ? [`with the variables of ${quoted(String(envFile))}`] : []),
  ].join(" ");
}

/** `and forwards the headers authorization, x-tenant of each caller` */
function describePassedHeaders(passHeaders: unknown): readonly string[] {
  const names = [passHeaders ?? []].flat().map((name: unknown) => quoted(String(name)));
  return names.length === 0 ? [] : [`and forwards the headers ${names.join(", ")} of each caller`];
}

/** `and sends the login of the user to https://idp.example` */
function describeIdentityProvider(oauth: unknown): readonly string[] {
  const provider = isRecord(oauth) ? oauth["identityProvider"] : undefined;
  if (!isRecord(provider)) return [];
  const addresses = [provider["issuer"], provider["tokenEndpoint"]].filter(isWord);
  return [`and sends the login of the user to ${addresses.map((address) => quoted(String(address))).join(" and ")}`];
}

function toPairs(record: unknown): readonly (readonly [name: string, value: string])[] {
  if (!isRecord(record)) return [];
  return Object.entries(record).map(([name, value]) => [name, isWord(value) ? String(value) : JSON.stringify(value)]);
}

/** Letters and digits, as keys are: no path, no option, nothing that a shell would read as more than a word. */
function isPlainWord(value: string): boolean {
  return /^\w+$/.test(value);
}
