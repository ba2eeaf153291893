import type { LogLine } from "../../messages.ts";
import { formatLink } from "../router.ts";
import { StatusBadge } from "./elements.tsx";
import { Code, Text, Time } from "./text.tsx";

const TONES = { debug: "off", info: "off", warn: "warn", error: "bad" } as const;

interface LogListProps {
  readonly lines: readonly LogLine[];
  /** Links each line to its run. */
  readonly hasRuns?: boolean;
}

/** Lines of the log of the server, in their order. A stack stands below its line. */
export function LogList({ lines, hasRuns = false }: LogListProps) {
  return (
    <ul class="list" aria-label="Log">
      {lines.map(({ id, time, level, text, path, runId, isThrown }) => (
        <li key={id} class="stack-tight">
          <div class="row">
            <StatusBadge label={level} tone={TONES[level]} />
            <Time at={time} />
            {path !== null && <Text in="code" value={path} limit={200} />}
            {hasRuns && runId !== null && <a href={formatLink(["runs", runId])}>run {runId.slice(0, 8)}</a>}
          </div>
          {isThrown ? <Code label="Stack" value={text} /> : <Text in="p" class="plain" value={text} limit={1_000} />}
        </li>
      ))}
    </ul>
  );
}
