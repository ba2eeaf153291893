import type { CallToolResult } from "@modelcontextprotocol/server";

import { type Catalog, getOriginal, type Method } from "../../../model/catalog.ts";
import { isVisibleTo } from "../../../model/tools/tool-definition.ts";
import type { RunObserver } from "../../../model/run-observer.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { getPageMeta, getToolMeta } from "../addresses/pages.ts";
import type { Features } from "../features/caller-features.ts";
import { methodTool } from "./method-tool.ts";
import type { OfferedTool } from "./tool-exposure.ts";

/**
 * Finds the tool that a page calls by the name that it has at its server. If several servers have the name, it is that of the
 * server whose page was read last.
 */
export function findServerTool(
  { skills }: Catalog,
  name: string,
  lastPage: string | undefined,
): OfferedTool | undefined {
  const candidates = skills
    .filter(({ kind }) => kind === "mcp")
    .flatMap(({ methods }) => methods.filter((method) => getOriginal(method).wireName === name))
    .filter((method) => isVisibleTo(getToolMeta(method), "app"));
  const method = candidates.length > 1 ? candidates.find(({ skill }) => skill === lastPage) : candidates[0];
  return method && { tool: methodTool(method, name), method };
}

/** Adds the page of a method to its result, unless the server has named one for the result itself. */
export function withPage(result: CallToolResult, page: PageMeta | undefined): CallToolResult {
  return page === undefined || getPageMeta(result._meta) ? result : { ...result, _meta: { ...result._meta, ...page } };
}

type PageMeta = ReturnType<typeof getPageMeta>;

/** Returns the page of a method as clients read it; `undefined` if it has none. */
export function getMethodPage(features: Features, view: RuntimeView, method: Method | undefined): PageMeta {
  const skill = method && view.catalog.skill(method.skill);
  if (method === undefined || skill === undefined) return undefined;
  const addresses = features.getAddresses(view);
  return getPageMeta(getToolMeta(method), (uri) => addresses.toClient(skill, uri));
}

/** Observes a run, and remembers the page of its last call that has one. */
export function followPages(
  features: Features,
  view: RuntimeView,
  observer: RunObserver,
): { readonly observer: RunObserver; readonly getPage: () => PageMeta } {
  let page: PageMeta;
  const onCallEnd: RunObserver["onCallEnd"] = (record) => {
    observer.onCallEnd?.(record);
    if (record.outcome !== "ok") return;
    const methods = view.catalog.skill(record.skill)?.methods ?? [];
    page =
      getMethodPage(
        features,
        view,
        methods.find((method) => getOriginal(method).name === record.method),
      ) ?? page;
  };
  return { observer: { ...observer, onCallEnd }, getPage: () => page };
}
