import { type CallToolResult, isCallToolResult } from "@modelcontextprotocol/server";

import { type Catalog, getOriginal, type Method } from "../../../model/catalog.ts";
import { isVisibleTo } from "../../../model/tools/tool-definition.ts";
import type { RunObserver } from "../../../model/run-observer.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { Client } from "../../../model/client-requests.ts";
import { isRecord } from "../../../model/json.ts";
import { withoutOwnMeta } from "../../../model/requests/request-values.ts";
import { stringifyExactly } from "../../../shared/json/exact-json.ts";
import { Rewriting } from "../addresses/rewrite.ts";
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

/** The page that a run shows, and the result of its tool, which the page expects. */
interface ShownPage {
  readonly page: PageMeta;
  readonly result?: ToolResultFields;
}

type ToolResultFields = Readonly<Record<string, unknown>>;

/** Observes a run, and remembers its last call that has a page. */
export function followPages(
  features: Features,
  view: RuntimeView,
  observer: RunObserver,
): { readonly observer: RunObserver; readonly getPage: () => ShownPage | undefined } {
  let lastPage: ShownPage | undefined;
  /** The last results by the paths of their methods. */
  const results = new Map<string, ToolResultFields>();
  const getResultReceiver: RunObserver["getResultReceiver"] = (method) => {
    const skill = view.catalog.skill(method.skill);
    if (skill === undefined || getMethodPage(features, view, method) === undefined) return undefined;
    const rewriting = new Rewriting(features.getAddresses(view), skill);
    return (result) => isRecord(result) && void results.set(method.path, rewriting.result(result));
  };
  const onCallEnd: RunObserver["onCallEnd"] = (record) => {
    observer.onCallEnd?.(record);
    if (record.outcome !== "ok") return;
    const methods = view.catalog.skill(record.skill)?.methods ?? [];
    const method = methods.find((each) => getOriginal(each).name === record.method);
    const page = getMethodPage(features, view, method);
    const result = method && results.get(getOriginal(method).path);
    if (page !== undefined) lastPage = { page, ...(result && { result }) };
  };
  return { observer: { ...observer, getResultReceiver, onCallEnd }, getPage: () => lastPage };
}

/** The most characters of the content of a tool that are added for its page, because the model reads them too. */
const MAX_CONTENT_UNITS = 16 << 10;

/** The most characters of the structured content of a tool that are added for its page. */
const MAX_STRUCTURE_UNITS = 1 << 20;

/**
 * Adds a page to the result of a run. A client that shows pages gives the page this result, so that it gets what the page
 * expects, too: the content of its tool first, and the structured content, except for the fields that describe the run.
 */
export function withRunPage(
  run: CallToolResult,
  lastPage: ShownPage | undefined,
  client: Pick<Client, "apps">,
): CallToolResult {
  const { page, result } = lastPage ?? {};
  if (client.apps === undefined || result === undefined || run.isError === true) return withPage(run, page);
  const { content, structuredContent, _meta: meta } = result;
  const blocks = (Array.isArray(content) ? content : []).filter(isRecord).map(forUser);
  const forPage: unknown = { content: isShort(blocks, MAX_CONTENT_UNITS) ? blocks : [] };
  const structure: ToolResultFields =
    isRecord(structuredContent) && isShort(structuredContent, MAX_STRUCTURE_UNITS) ? structuredContent : {};
  const { kind: _kind, runId: _runId, calls: _calls, approvals: _approvals, ...fields } = structure;
  const own = isRecord(run.structuredContent) ? run.structuredContent : {};
  const { value: _value, ...facts } = own;
  const whole: CallToolResult = {
    ...run,
    content: [...(isCallToolResult(forPage) ? forPage.content : []), ...run.content],
    structuredContent: { ...own, ...fields, ...facts },
    ...(isRecord(meta) && { _meta: { ...withoutOwnMeta(meta), ...run._meta } }),
  };
  return withPage(whole, page);
}

/** Says that a block of content is for the user, so that a client does not have to give it to the model. */
function forUser(block: ToolResultFields): object {
  const { annotations } = block;
  return { ...block, annotations: { ...(isRecord(annotations) && annotations), audience: ["user"] } };
}

function isShort(value: unknown, units: number): boolean {
  return stringifyExactly(value).length <= units;
}
