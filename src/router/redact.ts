import { readdirSync } from "node:fs";

import { trimCharacters } from "../shared/format-text.ts";
import { MASK } from "../shared/masks/mask.ts";
import { maskTokens } from "../shared/masks/token-formats.ts";
import { type KnownSecrets } from "../shared/secrets.ts";

/** How much of a text is read, and how much of it is kept. */
const READ_CHARACTERS = 16_000;
const KEPT_CHARACTERS = 4_000;

const HIDDEN_PATH = "[path]";

/** The facts about a call that the redaction rules need. */
export interface RedactionContext {
  /** Texts that the guest itself passed: showing them again reveals nothing. */
  readonly argumentTexts: readonly string[];
  /** Values that are always masked. */
  readonly secrets: KnownSecrets;
}

/**
 * Redacts the text of a provider for a guest: stack lines are removed; secrets, credentials in URLs, addresses of
 * databases and absolute paths of files are replaced by a mark. The rest stays, because a model needs it to correct its call:
 * `ENOENT: no such file or directory, open '/data/x.txt'` keeps the path if the call was about `/data/x.txt`, reads
 * `'/data/[path]'` if it was about `/data`, and `'[path]/x.txt'` if it was about `x.txt`.
 */
export function redact(text: string, context: RedactionContext): string {
  // Masks before the text is cut: a cut could leave half of a secret.
  const masked = cut(context.secrets.mask(text), READ_CHARACTERS).replace(STACK_LINES, "");
  let clean = maskTokens(masked, (found) => unlessInArguments(found, context));
  for (const { pattern, toReplacement: replace } of RULES)
    clean = clean.replace(pattern, (found: string, ...groups: (string | undefined)[]) =>
      replace(found, context, groups),
    );
  return cut(clean.trim(), KEPT_CHARACTERS);
}

/** Cuts at a space, so that no rule meets half of a secret. */
function cut(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const end = text.lastIndexOf(" ", characters);
  return `${text.slice(0, end > characters / 2 ? end : characters)} …`;
}

/** `    at connect (/srv/app/db.js:42:7)`, as JavaScript and Java write them. */
const STACK_LINES = /^[ \t]+at (?:[^\n(]*\()?(?:[^\n()]*:\d+|native|<anonymous>|index \d+)\)?[ \t]*(?:\n|$)/gm;

/** In quotes a path may hold spaces. */
const QUOTED_PATH = /(["'`])(\/[^"'`\n/]+\/[^"'`\n]+|[A-Za-z]:[\\/][^"'`\n]+|\\\\[^"'`\n]+|~\/[^"'`\n]+)\1/;

/** An absolute path of at least two names, not after an HTTP verb: `GET /v1/users` is not a path of this host. */
const BARE_PATH =
  /(?<![\w.~%/\\-])(?<!\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) )(?:\/[^\s'"`<>|;,(){}[\]/]+\/|[A-Za-z]:[\\/](?!\/)|\\\\|~\/)[^\s'"`<>|;,(){}[\]]+/;

type MatchGroups = readonly (string | undefined)[];

interface RedactionRule {
  readonly pattern: RegExp;
  /** Returns the replacement of a match. */
  readonly toReplacement: (found: string, context: RedactionContext, groups: MatchGroups) => string;
}

/** The rules in the order of application. Every pattern runs in about linear time. */
const RULES: readonly RedactionRule[] = [
  {
    pattern: /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"`<>]+/gi,
    toReplacement: (url, context) => inSentence(url, context, shownUrl),
  },
  { pattern: /\b(bearer|basic|digest|token)( +)([\w+/=.~-]{8,})/gi, toReplacement: shownScheme },
  {
    pattern:
      /\b([\w-]{0,40}?(?:password|passwd|pwd|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?|authorization|signature)["']?)([ \t]{0,3}[=:][ \t]{0,3}["']?)([^\s"'&,;]+)/gi,
    toReplacement: shownAssignment,
  },
  { pattern: new RegExp(`${QUOTED_PATH.source}|${BARE_PATH.source}`, "g"), toReplacement: shownFoundPath },
];

function unlessInArguments(found: string, { argumentTexts }: RedactionContext): string {
  return argumentTexts.some((text) => text.includes(found)) ? found : MASK;
}

/** Applies `shown` without the trailing punctuation, which belongs to the sentence. */
function inSentence(
  found: string,
  context: RedactionContext,
  replace: (found: string, context: RedactionContext) => string,
): string {
  const text = trimCharacters(found, ".,:;!?)]}");
  return replace(text, context) + found.slice(text.length);
}

function shownUrl(url: string, context: RedactionContext): string {
  if (context.argumentTexts.some((text) => text.includes(url))) return url;
  const end = url.indexOf("://");
  const scheme = url.slice(0, end).toLowerCase();
  const rest = url.slice(end + "://".length);
  if (scheme === "file") return shownPath(rest, context);
  if (!WEB_SCHEMES.has(scheme)) return SERVICE_SCHEMES.test(scheme) || rest.includes("@") ? `${scheme}://${MASK}` : url;
  const address = rest.replace(/^[^/?#]*@/, `${MASK}@`);
  return `${scheme}://${address.replace(SECRET_PARAMETERS, `$1${MASK}`)}`;
}

const WEB_SCHEMES: ReadonlySet<string> = new Set(["http", "https", "ws", "wss", "ftp", "ftps"]);

/** Databases, queues and directories: a guest has no use for their addresses. */
const SERVICE_SCHEMES =
  /^(?:jdbc:)?(?:pg|postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|valkey|amqp|amqps|mssql|sqlserver|oracle|kafka|nats|ldap|ldaps|smtp|smtps|imap|imaps|memcached|clickhouse|cassandra|couchbase|couchdb|neo4j|bolt|elasticsearch|mqtt|mqtts|ssh|sftp|tcp|udp|unix)(?:\+[a-z]+)?$/;

const SECRET_PARAMETERS =
  /([?&#][\w.-]{0,40}(?:token|key|secret|password|passwd|pwd|auth|sig|signature|credential)=)[^&#]+/gi;

/** Masks `Bearer eyJ…`, but not `Basic authentication`. */
function shownScheme(
  found: string,
  context: RedactionContext,
  [scheme = "", space = "", value = ""]: MatchGroups,
): string {
  return /[\d=]/.test(value) ? `${scheme}${space}${unlessInArguments(value, context)}` : found;
}

/** Masks `password=…` and `"apiKey": "…"`, but not `Unexpected token: comma`. */
function shownAssignment(
  found: string,
  context: RedactionContext,
  [name = "", sign = "", value = ""]: MatchGroups,
): string {
  const isCode = sign === "=" || /["']/.test(name + sign);
  const isSecret = isCode || (value.length >= 6 && /\d/.test(value)) || value.length >= 20;
  return isSecret ? `${name}${sign}${unlessInArguments(value, context)}` : found;
}

function shownFoundPath(found: string, context: RedactionContext, [quote, quoted]: MatchGroups): string {
  if (isWebPath(quoted ?? found)) return found;
  if (quote === undefined || quoted === undefined) return inSentence(found, context, shownPath);
  return `${quote}${shownPath(quoted, context)}${quote}`;
}

/** Recognizes the path of a web API, such as `/files/abc123`: it is in no folder at the root of a machine. */
function isWebPath(path: string): boolean {
  const [, root] = /^\/([^/]+)\//.exec(path) ?? [];
  return root !== undefined && !getRootFolders().has(root) && !INTERNAL_FILE.test(path);
}

/** The name of a file of a program, with the line and column of a place in it. */
const INTERNAL_FILE =
  /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|php|sh|env|json|ya?ml|toml|ini|conf|cfg|log|sock|pem|key|crt|db|sqlite)(?::\d+){0,2}[.,:;!?)\]}]*$/;

/** Folders at the root of the usual systems and containers. */
const USUAL_ROOT_FOLDERS =
  "Applications Library System Users Volumes app bin boot builds code data dev etc home host lib lib64 media mnt nix opt " +
  "private proc root run sbin snap srv sys tmp usr var work workspace workspaces";

let rootFolders: ReadonlySet<string> | undefined;

function getRootFolders(): ReadonlySet<string> {
  return (rootFolders ??= new Set([...USUAL_ROOT_FOLDERS.split(" "), ...listRoot()]));
}

function listRoot(): readonly string[] {
  try {
    return readdirSync("/");
  } catch {
    return []; // this process may not list it
  }
}

/** Keeps the part of a path that the guest named itself. */
function shownPath(path: string, { argumentTexts }: RedactionContext): string {
  const plain = path.replace(/(?::\d+){1,2}$/, ""); // Without the line and column of a place in a file.
  if (argumentTexts.some((text) => text.includes(plain))) return plain;
  const folder = argumentTexts.find(
    (text) =>
      /^(?:[/\\~]|[A-Za-z]:).*[^/\\]$/.test(text) && /^[/\\]/.test(plain.slice(text.length)) && plain.startsWith(text),
  );
  if (folder !== undefined) return `${folder}/${HIDDEN_PATH}`;
  const file = argumentTexts.find((text) => text !== "" && (plain.endsWith(`/${text}`) || plain.endsWith(`\\${text}`)));
  return file === undefined ? HIDDEN_PATH : `${HIDDEN_PATH}/${file}`;
}
