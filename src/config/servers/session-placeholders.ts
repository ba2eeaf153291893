import { createHmac, randomBytes } from "node:crypto";

import { isSessionValue, SESSION_VALUE_RULE } from "../../model/requests/request-values.ts";
import type { SessionTemplate } from "../../providers/mcp/index.ts";
import { entryError } from "./entry-fields.ts";
import { FILLED_KEYS } from "./entry-keys.ts";

/** `${session.project}`, `${session.project:-main}`: a value of the session of the caller. */
const TEMPLATE = /\$\{session\.([^{}]{0,300})\}/g;

const NAME = /^([a-z][a-z0-9-]{0,63})(?::-(.*))?$/s;

/** The templates of an entry, by the texts that stand for their values until a caller's connection is opened. */
export type SessionTemplates = Map<string, SessionTemplate>;

/**
 * Replaces each template of a value with a text that stands for it; `fill` fills in the rest. A template inside of a filled-in
 * value is not one. Throws a `BadEntry` for a key that cannot have templates, and for a wrong template.
 */
export function replaceTemplates(
  server: string,
  key: string,
  text: string,
  { fill, templates }: { readonly fill: (text: string) => string; readonly templates: SessionTemplates },
): string {
  const parts = text.split(TEMPLATE);
  if (parts.length > 1 && key !== "cwd" && !FILLED_KEYS.has(key))
    throw entryError(server, `${key} cannot have \${session.…}`, {
      key,
      fix: "write it in url, headers, env, args or cwd",
    });
  return parts
    .map((part, index) => (index % 2 === 0 ? fill(part) : addTemplate(server, key, part, templates)))
    .join("");
}

function addTemplate(server: string, key: string, inner: string, templates: SessionTemplates): string {
  const [, name, fallback] = NAME.exec(inner) ?? [];
  if (name === undefined)
    throw entryError(server, `${key} has a wrong template: ${JSON.stringify(`\${session.${inner}}`)}`, {
      key,
      fix: 'write "${session.project}", with lower-case letters, digits and -',
    });
  if (fallback !== undefined && !isSessionValue(fallback))
    throw entryError(server, `${key} has a template whose default no session may have: ${JSON.stringify(fallback)}`, {
      key,
      fix: `write ${SESSION_VALUE_RULE}`,
    });
  const placeholder = `session-${createHmac("sha256", PROCESS_KEY).update(inner).digest("hex")}`;
  templates.set(placeholder, { name, ...(fallback !== undefined && { fallback }) });
  return placeholder;
}

/** No value of a variable can contain a text that stands for a template. */
const PROCESS_KEY = randomBytes(32);
