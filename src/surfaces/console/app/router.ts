import { computed, signal } from "@preact/signals";

/** The address of a page: `#/servers/filesystem?tab=log`. */
export interface PageAddress {
  /** `["servers", "filesystem"]` */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);

/** The address that the browser shows. */
export const route = computed(() => parseRoute(hash.value));

addEventListener("hashchange", () => (hash.value = location.hash));

function parseRoute(text: string): PageAddress {
  const [path = "", query = ""] = text.replace(/^#\/?/, "").split("?", 2);
  return {
    segments: path
      .split("/")
      .filter((segment) => segment !== "")
      .map(decode),
    query: new URLSearchParams(query),
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone percent sign
  }
}

/** Returns the link to a page; the segments may have any characters. */
export function formatLink(segments: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ""));
  const path = segments.map(encodeURIComponent).join("/");
  return `#/${path}${parameters.size > 0 ? `?${parameters}` : ""}`;
}

/** Opens a page. `replace` leaves no entry in the history. */
export function navigate(link: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, "", link);
  else history.pushState(null, "", link);
  hash.value = location.hash;
}

addEventListener("popstate", () => (hash.value = location.hash));
