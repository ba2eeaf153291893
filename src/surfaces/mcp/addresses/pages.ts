import { isRecord } from "../../../model/json.ts";
import type { Method } from "../../../model/catalog.ts";

type PageFields = Readonly<Record<string, unknown>>;

/** The members of `_meta` that hold the address of a page, beside `ui.resourceUri`. */
const PAGE_KEYS = ["ui/resourceUri", "openai/outputTemplate"] as const;

/** Returns the members of `_meta` that say which page shows a result, with changed addresses; `undefined` if there are none. */
export function getPageMeta(meta: unknown, change: (uri: string) => string = (uri) => uri): PageFields | undefined {
  if (!isRecord(meta)) return undefined;
  const { ui } = meta;
  const page = isRecord(ui) && typeof ui["resourceUri"] === "string" ? ui["resourceUri"] : undefined;
  const others = PAGE_KEYS.flatMap((key) => {
    const uri = meta[key];
    return typeof uri === "string" ? [[key, change(uri)]] : [];
  });
  if (page === undefined && others.length === 0) return undefined;
  return {
    ...(page !== undefined && { ui: { ...(ui as PageFields), resourceUri: change(page) } }),
    ...Object.fromEntries(others),
  };
}

/** Returns the addresses of the pages that `_meta` names. */
export function getPageUris(meta: unknown): readonly string[] {
  const uris: string[] = [];
  getPageMeta(meta, (uri) => {
    uris.push(uri);
    return uri;
  });
  return uris;
}

/** The `_meta` of the tool of a method, as its server sent it. */
export function getToolMeta({ definition }: Method): unknown {
  return definition.toolFields?.["_meta"];
}
