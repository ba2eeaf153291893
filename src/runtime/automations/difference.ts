import type { AcceptedVersion } from "../../store/index.ts";

/** Changes since an automation was accepted. */
export interface AutomationDifference {
  /** Lines of the file: those that were removed begin with `- `, those that were added with `+ `. */
  readonly lines: readonly string[];
  /** Declarations of methods; missing on the side on which there is no such method. */
  readonly methods: readonly { readonly path: string; readonly before?: string; readonly now?: string }[];
}

/** Describes the difference between the accepted version, if there is one, and the current one. */
export function describeDifference(
  accepted: Pick<AcceptedVersion, "text" | "methods"> | undefined,
  now: Pick<AcceptedVersion, "text" | "methods">,
): AutomationDifference {
  const before = accepted?.methods ?? {};
  const paths = [...new Set([...Object.keys(before), ...Object.keys(now.methods)])].toSorted();
  const methods = paths.flatMap((path) => {
    const [old, fresh] = [before[path], now.methods[path]];
    if (old?.digest === fresh?.digest) return [];
    return {
      path,
      ...(old !== undefined && { before: old.declaration }),
      ...(fresh !== undefined && { now: fresh.declaration }),
    };
  });
  return { lines: compareLines(accepted?.text ?? "", now.text), methods };
}

/** Lists the lines between the common beginning and the common end of two texts. */
function compareLines(before: string, now: string): readonly string[] {
  const [old, fresh] = [splitLines(before), splitLines(now)];
  const shortest = Math.min(old.length, fresh.length);
  let start = 0;
  while (start < shortest && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < shortest - start && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const between = (lines: readonly string[]): readonly string[] => lines.slice(start, lines.length - end);
  return [...between(old).map((line) => `- ${line}`), ...between(fresh).map((line) => `+ ${line}`)];
}

function splitLines(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
