import { request } from "./api.ts";
import type { Command } from "./components/command-palette.tsx";
import { formatLink, navigate } from "./router.ts";
import type { SearchResults } from "../messages.ts";

/** Finds methods for the command palette. An error finds none. */
export async function findMethodCommands(text: string): Promise<readonly Command[]> {
  try {
    const { results } = await request<SearchResults>(`/search?limit=8&q=${encodeURIComponent(text)}`);
    return results.map(({ path }) => ({
      id: `method ${path}`,
      title: path,
      icon: "methods",
      run: () => navigate(formatLink(["methods", path])),
    }));
  } catch {
    return []; // the pages remain
  }
}
