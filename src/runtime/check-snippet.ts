import { readSnippet } from "../frontend/index.ts";
import { gatekeep, type Host, type Verdict } from "../gatekeeper/index.ts";
import { setBounded } from "../shared/lru.ts";
import type { RunRequest } from "../run-snippet.ts";

/** So many verdicts are remembered, on sources of so many characters at most: some megabytes in all. */
const MAX_REMEMBERED = 200;
const MAX_REMEMBERED_CHARACTERS = 8_192;

/** What the front end and the gatekeeper say of a snippet. */
export interface CheckedSnippet extends Verdict {
  /** Where there is a program: its JavaScript, every character at its place in the source. */
  readonly text: string;
}

export type CheckSnippet = (
  source: string,
  request: Pick<RunRequest, "catalog" | "caller" | "isDisabled" | "limits">,
) => CheckedSnippet;

/**
 * Reads and checks snippets. Who asks the same thing again and again, as programs on a timer do, need not wait for what is
 * known: a snippet that may run gets the verdict of before, as long as the catalog and the grants are those of before.
 */
export function createSnippetChecker(createHost: (request: Parameters<CheckSnippet>[1]) => Host): CheckSnippet {
  const known = new Map<string, CheckedSnippet>();
  return (source, request) => {
    const key = source.length <= MAX_REMEMBERED_CHARACTERS ? createKey(source, request) : undefined;
    const before = key === undefined ? undefined : known.get(key);
    const checked = before ?? checkSnippet(source, request, createHost(request));
    if (key === undefined || checked.program === undefined) return checked;
    setBounded(known, [key, checked], MAX_REMEMBERED);
    return checked;
  };
}

/** All that a verdict depends on; what is no source is JSON, so that no source can pass for it. */
function createKey(source: string, { catalog, caller, limits }: Parameters<CheckSnippet>[1]): string {
  return JSON.stringify([catalog.version, limits.sourceBytes, caller.grants, caller.reads ?? []]) + source;
}

function checkSnippet(source: string, request: Parameters<CheckSnippet>[1], questions: Host): CheckedSnippet {
  const snippet = readSnippet(source, request.limits);
  return { ...gatekeep(snippet, questions), text: snippet.kind === "program" ? snippet.text : "" };
}
