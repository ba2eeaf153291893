import { StatusBadge } from "../../components/elements.tsx";
import { Program } from "../../components/program.tsx";
import { Code, formatDuration, Text } from "../../components/text.tsx";
import type { ChatStep } from "./conversation.ts";

/** A program with its plan, its calls as they run, its output and its result. */
export function StepCard({ step: { code, plan, calls, progress, output, result } }: { readonly step: ChatStep }) {
  const title = code === "" ? "Tool call" : "Program";
  return (
    <article class="card stack" aria-label={title}>
      <header class="row">
        <Text in="span" class="muted wide" value={code === "" ? (result?.name ?? title) : title} limit={100} />
        <StatusBadge label={result === undefined ? "running" : result.isError ? "failed" : "done"} />
      </header>
      {code !== "" && <Program label="Code" source={code} />}
      {plan.length > 0 && calls.size === 0 && result === undefined && (
        <ul class="stack-tight muted" aria-label="Plan">
          {plan.map(({ line, text }, at) => (
            <li key={at}>
              line {line} <Text in="code" value={text} limit={300} />
            </li>
          ))}
        </ul>
      )}
      {calls.size > 0 && (
        <ul class="stack-tight" aria-label="Calls">
          {[...calls].map(([id, { path, outcome = "running", durationMs }]) => (
            <li key={id} class="row">
              <StatusBadge label={outcome} />
              <Text in="code" value={path} limit={200} />
              {durationMs !== undefined && <span class="muted">{formatDuration(durationMs)}</span>}
            </li>
          ))}
        </ul>
      )}
      {progress !== "" && result === undefined && <Text in="p" class="muted" value={progress} limit={300} />}
      {output !== "" && <Code label="Output" value={output} />}
      {result !== undefined && (
        <details open={result.isError}>
          <summary>{result.isError ? "Error" : "Result"}</summary>
          <Code value={result.text} />
        </details>
      )}
    </article>
  );
}
