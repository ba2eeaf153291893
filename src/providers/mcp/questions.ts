import type { Client } from "../../model/client-requests.ts";
import { isRecord } from "../../model/json.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { toVisibleLine } from "../../shared/visible-text.ts";
import { truncateText } from "../../shared/format-text.ts";

/** Maximum length of a message; a longer one could push the sender's name out of view. */
const MAX_MESSAGE_CHARACTERS = 2_000;

/** Wraps a client: each request names the server that sends it, and its secrets are masked. */
export function withSender(client: Client, server: string, secrets: KnownSecrets): Client {
  return {
    ...(client.era && { era: client.era }),
    ...(client.apps && { apps: client.apps }),
    can: (request) => client.can(request),
    ask: async (request, params, key) => {
      const signedParams = request === "elicitation/create" ? toSignedQuestion(params, server) : params;
      return client.ask(request, secrets.maskValue(signedParams), key);
    },
  };
}

type Params = Readonly<Record<string, unknown>>;

/** `[weather asks] Which city?`, `[weather asks] Log in (opens accounts.example.com)` */
function toSignedQuestion(params: Params, server: string): Params {
  const { message, url, mode, requestedSchema } = params;
  const text = truncateText(toVisibleLine(typeof message === "string" ? message : ""), MAX_MESSAGE_CHARACTERS);
  const sender = toVisibleLine(server).replaceAll(/[[\]]/g, "");
  const opens = mode === "url" || url !== undefined ? ` (opens ${getHost(url)})` : "";
  return {
    ...params,
    message: `[${sender} asks] ${text}${opens}`,
    ...(requestedSchema !== undefined && { requestedSchema: toVisibleSchema(requestedSchema) }),
  };
}

/** Returns the host of a page; throws if the URL is not an http or https address. */
function getHost(url: unknown): string {
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (address !== undefined && /^https?:$/.test(address.protocol)) return address.host;
  throw new Error(`The page is not an http or https address: ${JSON.stringify(url)?.slice(0, 200)}`);
}

/** Returns a form with its texts made visible, each on one line. */
function toVisibleSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toVisibleSchema);
  if (!isRecord(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      typeof value === "string" && SHOWN_KEYS.has(key)
        ? toVisibleLine(value)
        : key === "enumNames" && Array.isArray(value)
          ? value.map((name: unknown) => (typeof name === "string" ? toVisibleLine(name) : name))
          : toVisibleSchema(value),
    ]),
  );
}

const SHOWN_KEYS: ReadonlySet<string> = new Set(["title", "description"]);
