import { sign } from "./address.ts";

/** Variables that decide what the program itself does. */
const OWN_NAMES = [
  "HOME",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "SKILLGATE_TRUSTED_FOLDERS",
  "SKILLGATE_UNAPPROVED",
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "TZ",
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/** Names that the texts of a project mention: placeholders, members of `process.env`, and words in capitals. */
const NAMES =
  /\$\{(?:env:)?([A-Za-z_]\w{0,200})|\{env:([A-Za-z_]\w{0,200})|\benv(?:\?\.|\.|(?:\?\.)?\[["'`])([A-Za-z_]\w{0,200})|\b([A-Z][A-Z0-9_]{1,200})\b/g;

/** The most names that a project may mention. */
export const MAX_NAMES = 5_000;

/** Lists the names of environment variables that texts of a project may read. */
export function listVariableNames(texts: Iterable<string>): readonly string[] {
  const names = new Set(OWN_NAMES);
  for (const text of texts)
    for (const [, ...groups] of text.matchAll(NAMES)) names.add(groups.find((group) => group !== undefined) ?? "");
  return [...names].toSorted();
}

/** Signs the values of variables, so that two processes can compare them without telling them. */
export function signVariables(secret: string, names: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  return sign(secret, JSON.stringify(names.map((name) => [name, env[name] ?? null])));
}
