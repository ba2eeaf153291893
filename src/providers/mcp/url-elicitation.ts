import type { Client } from "../../model/client-requests.ts";
import { isRecord } from "../../model/json.ts";

/** JSON-RPC error code: the server refuses a call until the user has visited some pages. */
const URL_ELICITATION_REQUIRED = -32_042;

/** Maximum number of pages to visit for one call. */
const MAX_PAGES = 5;

export interface PageToVisit {
  readonly mode: "url";
  readonly url: string;
  readonly message: string;
  readonly elicitationId?: string;
}

/** Returns the pages that the user must visit first; empty for any other error. */
export function getPagesToVisit(thrown: unknown): readonly PageToVisit[] {
  if (!isRecord(thrown) || thrown["code"] !== URL_ELICITATION_REQUIRED) return [];
  const { elicitations } = isRecord(thrown["data"]) ? thrown["data"] : {};
  return (Array.isArray(elicitations) ? elicitations : []).slice(0, MAX_PAGES).flatMap((page: unknown) => {
    const { url, message, elicitationId } = isRecord(page) ? page : {};
    if (typeof url !== "string" || !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) return [];
    const text = typeof message === "string" ? message : "";
    return [{ mode: "url", url, message: text, ...(typeof elicitationId === "string" && { elicitationId }) }];
  });
}

/** Asks the user to visit the pages; true if there is at least one and the user accepted all. */
export async function visitsPages(thrown: unknown, client: Client | undefined): Promise<boolean> {
  const pages = getPagesToVisit(thrown);
  if (pages.length === 0 || client?.can("elicitation/create") !== true) return false;
  for (const page of pages) {
    const answer = await client.ask("elicitation/create", { ...page }, page.url);
    if (!isRecord(answer) || answer["action"] !== "accept") return false;
  }
  return true;
}
