import { isRecord } from "../../model/json.ts";

/** The keys that clients use for the address of a server. */
export const URL_KEYS = ["url", "serverUrl", "httpUrl"] as const;

/** The keys whose values may come from a command or from the session of a caller. */
export const FILLED_KEYS: ReadonlySet<string> = new Set([
  "args",
  "env",
  "environment",
  "headers",
  "http_headers",
  ...URL_KEYS,
]);

/** The keys of a login whose values may come from a command. */
export const LOGIN_SECRETS: ReadonlySet<string> = new Set(["clientSecret", "client_secret", "assertion", "idToken"]);

/** The command line of an entry as written: opencode has the command as a list, and Zed as an object. */
export function getCommandWords({ command, args }: Readonly<Record<string, unknown>>): readonly string[] {
  const first = isRecord(command) ? [command["path"], command["args"]] : [command];
  return [...first, args].flat(2).filter(isWord).map(String);
}

/** The address in an entry as written. */
export function getAddress(entry: Readonly<Record<string, unknown>>): string | undefined {
  return URL_KEYS.map((key) => entry[key]).find((url) => typeof url === "string");
}

/** True for a value that an entry may have in place of a text. */
export function isWord(word: unknown): word is string | number | boolean {
  return typeof word === "string" || typeof word === "number" || typeof word === "boolean";
}
