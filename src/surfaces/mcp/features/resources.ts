import { ResourceNotFoundError } from "@modelcontextprotocol/server";

import { isRecord } from "../../../model/json.ts";
import type { ReadContext } from "../../../model/mcp-features.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { getScheme } from "../addresses/own-address.ts";
import type { CallerFeatures } from "./caller-features.ts";
import { listRuns, readRun, type RunLibrary } from "./run-resources.ts";

/** Default and maximum characters of one part of a result. */
const PART_CHARACTERS = 64 << 10;
const MAX_CHARACTERS = 1 << 20;

/** Dependencies of reading and listing resources and prompts for one caller. */
export interface Library extends RunLibrary {
  readonly offers: CallerFeatures;
  /** True if the caller has the built-in tools. */
  readonly hasOwnTools: boolean;
  /** Is called with the skill of a page that is read. */
  readonly onPage?: (skill: string) => void;
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly [field: string]: unknown;
}

/** Lists resources of skills, the declarations, pages of skills, and the newest runs, always in this order. */
export async function listResources(library: Library): Promise<readonly ListedResource[]> {
  const { view, offers } = library;
  const { skills } = view.catalog;
  return [
    ...offers.resources,
    { uri: DECLARATIONS, name: "declarations", title: "TypeScript of every method", mimeType: TYPESCRIPT },
    ...skills.map(({ name, description }) => ({ uri: getSkillPageUri(name), name, description, mimeType: MARKDOWN })),
    ...(await listRuns(library)).map(({ runId, kind, time }) => ({
      uri: `run://${runId}`,
      name: runId,
      title: `Run of ${time}: ${kind}`,
      mimeType: JSON_TYPE,
    })),
  ];
}

export function listTemplates({ offers }: Library): readonly { readonly uriTemplate: string; readonly name: string }[] {
  return [
    ...offers.templates,
    { uriTemplate: `${PAGES}{skill}`, name: "skill", title: "What a skill does, and how", mimeType: MARKDOWN } as const,
    {
      uriTemplate: `${PAGES}{skill}/declarations`,
      name: "skill-declarations",
      title: "TypeScript of a skill",
      mimeType: TYPESCRIPT,
    } as const,
    { uriTemplate: "run://{runId}", name: "run", title: "The record of a run", mimeType: JSON_TYPE } as const,
    {
      uriTemplate: "result://{runId}/{n}{?offset,length}",
      name: "result",
      title: "A result that was too large to hand out whole, in parts",
      mimeType: "text/plain",
    } as const,
  ];
}

/** Reads a resource; throws `ResourceNotFoundError` if it does not exist or the caller may not see it. */
export async function readResource(uri: string, library: Library, context: ReadContext): Promise<unknown> {
  const own = await readBuiltinContents(uri, library);
  if (own !== undefined) return { contents: [{ uri, ...own }] };
  const found = library.offers.find(uri);
  for (const { owner, offers, rewriting, uri: askedUri } of found) {
    const contents = await offers.read(askedUri, context).catch((thrown: unknown) => {
      if (found.length === 1) throw thrown;
      return undefined; // the next one may have it
    });
    if (contents === undefined) continue;
    if (isPage(uri, contents)) library.onPage?.(owner.name);
    return library.view.secrets.maskValue(rewriting.contents(contents, { address: uri, uri: askedUri }));
  }
  throw new ResourceNotFoundError(uri);
}

/** True for a page that a client shows, which may call tools. */
function isPage(uri: string, result: unknown): boolean {
  const contents = isRecord(result) && Array.isArray(result["contents"]) ? result["contents"] : [];
  return getScheme(uri) === "ui" || contents.some((part) => isRecord(part) && isHtml(part["mimeType"]));
}

function isHtml(mimeType: unknown): boolean {
  return typeof mimeType === "string" && mimeType.startsWith("text/html");
}

const MARKDOWN = "text/markdown";
const TYPESCRIPT = "text/typescript";
const JSON_TYPE = "application/json";
const DECLARATIONS = "skillgate://declarations";
const PAGES = "skillgate://skills/";

function getSkillPageUri(skill: string): string {
  return `${PAGES}${encodeURIComponent(skill)}`;
}

interface TextContents {
  readonly mimeType: string;
  readonly text: string;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

async function readBuiltinContents(uri: string, library: Library): Promise<TextContents | undefined> {
  const { view } = library;
  if (uri === DECLARATIONS) return { mimeType: TYPESCRIPT, text: view.declarations() };
  if (uri.startsWith(PAGES)) return skillPage(uri.slice(PAGES.length), view);
  if (uri.startsWith("run://")) {
    const text = await readRun(uri.slice("run://".length), library);
    return text === undefined ? undefined : { mimeType: JSON_TYPE, text };
  }
  return uri.startsWith("result://") ? readResultPart(uri, view) : undefined;
}

function skillPage(path: string, view: RuntimeView): TextContents | undefined {
  const [encoded = "", rest] = path.split("/", 2);
  const skill = view.catalog.skills.find(({ name }) => encodeURIComponent(name) === encoded);
  if (skill === undefined) return undefined;
  if (rest === "declarations") return { mimeType: TYPESCRIPT, text: view.declarations([skill.name]) };
  return rest === undefined ? { mimeType: MARKDOWN, text: view.describe(skill.name).text } : undefined;
}

/**
 * Reads `result://<runId>/<n>?offset=0&length=65536`, in UTF-16 units; `_meta` gives the total and the URI of the next
 * part.
 */
function readResultPart(uri: string, view: RuntimeView): TextContents | undefined {
  const [name = "", query = ""] = uri.split("?", 2);
  const parameters = new URLSearchParams(query);
  const offset = wholeNumber(parameters.get("offset"), 0);
  const length = Math.min(wholeNumber(parameters.get("length"), PART_CHARACTERS), MAX_CHARACTERS);
  const part = view.readResult(name, offset, length);
  if (part === undefined) return undefined;
  const end = offset + part.text.length;
  const next = end < part.total ? { next: `${name}?offset=${end}&length=${length}` } : {};
  return {
    mimeType: "text/plain",
    text: part.text,
    _meta: { "skillgate/part": { offset, total: part.total, ...next } },
  };
}

function wholeNumber(text: string | null, otherwise: number): number {
  return text !== null && /^\d{1,12}$/.test(text) ? Number(text) : otherwise;
}
