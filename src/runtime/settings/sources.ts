import { validateHeaderName, validateHeaderValue } from "node:http";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { createSettingsProblem } from "./runtime-settings.ts";
import { fillIn, findOverrideFlaw, RUNTIME_SECTION_SCHEMAS, type Variables } from "../../config/index.ts";
import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import type { SourceConfig } from "../../providers/sources/index.ts";
import { isMemberName } from "../../shared/names/skill-names.ts";
import { findSettingMistakes } from "../../shared/settings/check-settings.ts";
import type { SourceSettings } from "../options.ts";

interface SourceContext {
  readonly cwd: string;
  readonly variables: Variables;
}

/** Parses the section `sources`. A source with a mistake is a problem, and is left out. */
export function parseSources(
  section: unknown,
  context: SourceContext,
): { readonly sources: readonly SourceConfig[]; readonly problems: readonly Problem[] } {
  if (section === undefined || section === null) return { sources: [], problems: [] };
  if (!isRecord(section))
    return { sources: [], problems: [createSettingsProblem("sources must have sources by name")] };
  const sources: SourceConfig[] = [];
  const problems: Problem[] = [];
  for (const [name, written] of Object.entries(section)) {
    const missing = new Set<string>();
    const mistakes = findSourceMistakes(name, written);
    const source = mistakes.length > 0 ? undefined : toSource(name, written as SourceSettings, { ...context, missing });
    const unset = [...missing].map((what) => `sources.${name}: ${what} is not set`);
    const isFilled = source !== undefined && missing.size === 0;
    const flaws = [...mistakes, ...unset, ...(isFilled ? findFilledFlaws(source, written as SourceSettings) : [])];
    problems.push(...flaws.map(createSettingsProblem));
    if (isFilled && flaws.length === 0) sources.push(source);
  }
  return { sources, problems };
}

/** Says why a name cannot be that of a source, or of another part of the settings; `undefined` if it can. */
export function findSourceNameFlaw(name: string, kind = "a source"): string | undefined {
  if (/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) return undefined;
  return `${JSON.stringify(name)} cannot name ${kind}: it must have letters, digits, _ and -, at most 64`;
}

/** Lists the mistakes of a source of the settings. */
export function findSourceMistakes(name: string, written: unknown): readonly string[] {
  const flaw = findSourceNameFlaw(name);
  if (flaw !== undefined) return [flaw];
  const mistakes = findSettingMistakes(RUNTIME_SECTION_SCHEMAS.sources, { [name]: written }, ["sources"]);
  if (mistakes.length > 0) return mistakes.map(({ error }) => error);
  const { skill, methods = {} } = written as SourceSettings;
  const overrideFlaw = findOverrideFlaw(`sources.${name}.methods`, methods);
  return [
    ...findKindMistakes(`sources.${name}`, written as SourceSettings),
    ...(overrideFlaw === undefined ? [] : [overrideFlaw]),
    ...(skill === undefined || isMemberName(skill) ? [] : [`sources.${name}.skill must be a name such as GithubAPI`]),
  ];
}

/** Settings that are for the other kind of source, each with the reason. */
function findKindMistakes(where: string, written: SourceSettings): readonly string[] {
  const { openapi, graphql } = written;
  if (openapi !== undefined && graphql !== undefined)
    return [`${where} has openapi and graphql, which are two APIs; write a source for each`];
  const [others, kind] =
    graphql === undefined ? [NOT_OF_OPENAPI, "is for GraphQL APIs;"] : [NOT_OF_GRAPHQL, "is not for GraphQL APIs:"];
  return Object.entries(others).flatMap(([setting, why]) =>
    Object.hasOwn(written, setting) ? [`${where}.${setting} ${kind} ${why}`] : [],
  );
}

const NOT_OF_OPENAPI: Readonly<Partial<Record<keyof SourceSettings, string>>> = {
  schema: "the document of openapi has its types",
  requests: "the document of openapi says how requests are sent",
};

const NOT_OF_GRAPHQL: Readonly<Partial<Record<keyof SourceSettings, string>>> = {
  server: "all requests go to the address in graphql",
  servers: "all requests go to the address in graphql",
  methods: "its methods are query and mutate",
  pages: "pages follow each other by pageInfo, which its schema has",
  patch: "write schema, with a file that you have changed",
};

/**
 * Says which servers and headers cannot be sent when their variables are filled in. A host alone would be read as a path of the
 * document's server. The values are secret.
 */
function findFilledFlaws(
  { name, kind, server, servers, headers, idempotencyHeader }: SourceConfig,
  written: SourceSettings,
): readonly string[] {
  const where = `sources.${name}`;
  const { servers: writtenServers = [] } = written;
  const setting = kind === "graphql" ? "graphql" : "server";
  const isServer = (text = ""): boolean => URL.canParse(text) && /^https?:/i.test(text);
  const sent = [
    ...Object.entries(headers),
    ...(idempotencyHeader === undefined ? [] : [[idempotencyHeader, ""] as const]),
  ];
  return [
    ...(server === undefined || isServer(server)
      ? []
      : [
          `${where}.${setting} has ${JSON.stringify(written[setting])}, which is not ${kind === "graphql" ? ENDPOINT : SERVER}`,
        ]),
    ...(kind !== "graphql" && server?.match(/[?#]/)
      ? [
          `${where}.server has ${JSON.stringify(written.server)}; requests have its path alone, so write it without ? and #`,
        ]
      : []),
    ...writtenServers
      .filter((_, at) => !isServer(servers[at]))
      .map((each) => `${where}.servers has ${JSON.stringify(each)}, which is not ${SERVER}`),
    ...sent.flatMap(([header, value]) => {
      const flaw = findHeaderFlaw(header, value);
      return flaw === undefined ? [] : [`${where} has the header ${JSON.stringify(header)}, ${flaw}`];
    }),
  ];
}

const SERVER = "a URL such as https://api.example.com";
const ENDPOINT = "a URL such as https://api.example.com/graphql";

/** Node refuses it only when a request is sent. */
function findHeaderFlaw(header: string, value: string): string | undefined {
  try {
    validateHeaderName(header);
  } catch {
    return "which cannot be a name; write a name such as Authorization, without a colon";
  }
  try {
    validateHeaderValue(header, value);
    return undefined;
  } catch {
    return "whose value has a line break or a character that a header cannot have; correct it, or its variable";
  }
}

function toSource(
  name: string,
  written: SourceSettings,
  { cwd, variables, missing }: SourceContext & { readonly missing: Set<string> },
): SourceConfig {
  const fill = (text: string): string => fillIn(text, variables, missing);
  const refreshMs = toMilliseconds(written.refresh);
  const { openapi = "", graphql, schema, account = {}, include, patch, requests, idempotencyHeader } = written;
  const kind = graphql === undefined ? "openapi" : "graphql";
  const server = graphql === undefined ? written.server : graphql.trim();
  const headers = Object.entries(written.headers ?? {}).map(([header, value]) => [header, fill(value)]);
  return {
    kind,
    name,
    skill: written.skill ?? toSourceSkillName(name, kind),
    document: toDocumentUrl(fill(schema ?? graphql ?? openapi), cwd),
    ...(server !== undefined && { server: fill(server) }),
    servers: (written.servers ?? []).map(fill),
    headers: Object.fromEntries(headers),
    accounts: typeof account === "string" ? [["*", account]] : Object.entries(account),
    isPrivate: written.private ?? false,
    ...(include !== undefined && { include }),
    exclude: written.exclude ?? [],
    ...(patch !== undefined && { patch: resolve(cwd, patch) }),
    methods: written.methods ?? {},
    effects: Object.entries(written.effects ?? {}),
    ...(refreshMs !== undefined && { refreshMs }),
    changes: written.changes ?? "report",
    pages: Object.entries(written.pages ?? {}),
    ...(requests !== undefined && { requests }),
    ...(idempotencyHeader !== undefined && { idempotencyHeader }),
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `24h` becomes milliseconds, `never` becomes `undefined`. */
function toMilliseconds(refresh = "never"): number | undefined {
  return refresh === "never" ? undefined : Number(refresh.slice(0, -1)) * (UNIT_MS[refresh.slice(-1)] ?? 0);
}

/** `my-shop` becomes `MyShopAPI`, or `MyShopGraph` for a GraphQL API. */
function toSourceSkillName(name: string, kind: SourceConfig["kind"]): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return `${/^[A-Za-z]/.test(joined) ? joined : `Source${joined}`}${kind === "graphql" ? "Graph" : "API"}`;
}

/** A URL of http or https stays; everything else is a file of the project. */
function toDocumentUrl(text: string, cwd: string): string {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text).href;
  return pathToFileURL(resolve(cwd, text)).href;
}
