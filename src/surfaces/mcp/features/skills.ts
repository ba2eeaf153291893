import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import type { McpSkill, ReadContext } from "../../../model/mcp-features.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { listedPage } from "./pages.ts";
import { passErrorsOn } from "../upstream-errors.ts";
import type { Library } from "./resources.ts";

/** Fields of both results: a client asks again each time, because servers come and go. */
const UNCACHED = { ttlMs: 0, cacheScope: "private" } as const;

/** Serves the skills of a caller: those of its servers and its own. Their files are read as resources. */
export function serveSkills(
  server: Server,
  library: (context: ServerContext) => Promise<Library>,
  toContext: ToReadContext,
  era: "legacy" | "modern",
): void {
  server.setRequestHandler("skills/list", { params: PARAMS }, async ({ cursor }, context) => {
    const { offers, view } = await library(context);
    const page = listedPage("skills", offers.skills, typeof cursor === "string" ? cursor : undefined);
    offers.showSkills(page.skills);
    return { ...view.secrets.maskValue(page), ...UNCACHED };
  });
  server.setRequestHandler("skills/get", { params: PARAMS }, async ({ uri }, context) => {
    const { offers, view } = await library(context);
    const [found] = typeof uri === "string" ? offers.find(uri) : [];
    const listed = offers.skills.find((skill) => skill.uri === uri);
    if (found === undefined) throw unknownSkill(uri);
    const answer = await found.offers.skill?.(found.uri, toContext(context)).catch((thrown: unknown) => {
      throw listed === undefined ? unknownSkill(uri) : thrown;
    });
    const skill = isRecord(answer) && isSkill(answer["skill"]) ? found.rewriting.skill(answer["skill"]) : listed;
    if (skill === undefined) throw unknownSkill(uri);
    if (skill === listed) offers.showSkills([listed]);
    return {
      ...(isRecord(answer) && view.secrets.maskValue(answer)),
      skill: view.secrets.maskValue(skill),
      ...UNCACHED,
    };
  });
  server.setRequestHandler("resources/directory/read", { params: PARAMS }, async ({ uri, cursor }, context) => {
    const opened = await library(context);
    const read = async (): Promise<readonly unknown[] | undefined> =>
      typeof uri === "string" ? readFolder(uri, opened, toContext(context)) : undefined;
    const entries = await passErrorsOn({ era, secrets: opened.view.secrets }, read);
    if (entries === undefined) throw notFolder(uri);
    const page = listedPage("resources", opened.view.secrets.maskValue(entries), cursor as string | undefined);
    return { ...page, ...UNCACHED };
  });
}

/** Returns what is in a folder, by the server that has it, else by the files of the skills in lists. */
async function readFolder(
  uri: string,
  { offers }: Library,
  context: ReadContext,
): Promise<readonly unknown[] | undefined> {
  // The address of a skill's folder is given out with a slash at its end.
  const [found] = offers.find(`${uri}/`);
  if (found?.offers.directory !== undefined)
    return found.rewriting.entries(await found.offers.directory(found.uri.replace(/\/$/, ""), context));
  const entries = new Map<string, object>();
  for (const file of offers.skills.flatMap(({ resources }) => (Array.isArray(resources) ? resources : []))) {
    const path: unknown = isRecord(file) ? file["uri"] : undefined;
    if (typeof path !== "string" || !path.startsWith(`${uri}/`)) continue;
    const [name = "", rest] = path.slice(uri.length + 1).split("/", 2);
    entries.set(name, { uri: `${uri}/${name}`, name, ...getFolderType(name, rest) });
  }
  return entries.size === 0 ? undefined : [...entries.values()];
}

function getFolderType(name: string, rest: string | undefined): { readonly mimeType?: string } {
  if (rest !== undefined) return { mimeType: "inode/directory" };
  return name.endsWith(".md") ? { mimeType: "text/markdown" } : {};
}

function notFolder(uri: unknown): ProtocolError {
  const shortUri = truncateText(JSON.stringify(uri) ?? "undefined", 200);
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `${shortUri} is not the URI of a folder, without a slash at its end`,
  );
}

function isSkill(value: unknown): value is McpSkill {
  return isRecord(value) && typeof value["uri"] === "string";
}

type ToReadContext = (context: ServerContext) => ReadContext;

/** Accepts any params: each member is checked where it is used. */
const PARAMS: StandardSchemaV1<Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>> = {
  "~standard": {
    version: 1,
    vendor: "skillgate",
    validate: (value) => ({ value: isRecord(value) ? value : {} }),
  },
};

function unknownSkill(uri: unknown): ProtocolError {
  const shortUri = truncateText(JSON.stringify(uri) ?? "undefined", 200);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown skill: ${shortUri}; skills/list has the URIs`);
}
