import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";
import { formatDuration } from "../../components/time.tsx";
import type { ChatStep } from "./conversation.ts";

/** A program with its plan, its calls as they run, its output and its result. */
export function StepCard({ step: { code, plan, calls, progress, output, result } }: { readonly step: ChatStep }) {
  const state = result === undefined ? "running" : result.isError ? "failed" : "done";
  return (
    <article class="card step" aria-label={code === "" ? "Tool call" : "Program"}>
      <header class="step-head">
        <span class="muted">{code === "" ? <Text value={result?.name ?? "Tool call"} limit={100} /> : "Program"}</span>
        <StatusBadge tone={STATE_TONES[state]} label={state} />
      </header>
      {code !== "" && (
        <pre class="code step-code" tabIndex={0} aria-label="Code">
          <Text value={code} limit={8_000} />
        </pre>
      )}
      {plan.length > 0 && calls.size === 0 && result === undefined && (
        <ul class="step-calls muted" aria-label="Plan">
          {plan.map(({ line, text }, at) => (
            <li key={at}>
              line {line}{" "}
              <code>
                <Text value={text} limit={300} />
              </code>
            </li>
          ))}
        </ul>
      )}
      {calls.size > 0 && (
        <ul class="step-calls" aria-label="Calls">
          {[...calls].map(([id, call]) => (
            <li key={id}>
              <StatusBadge
                tone={call.outcome === undefined ? "busy" : call.outcome === "ok" ? "ok" : "bad"}
                label={call.outcome ?? "running"}
              />
              <code>
                <Text value={call.path} limit={200} />
              </code>
              {call.durationMs !== undefined && <span class="muted">{formatDuration(call.durationMs)}</span>}
            </li>
          ))}
        </ul>
      )}
      {progress !== "" && result === undefined && (
        <p class="muted">
          <Text value={progress} limit={300} />
        </p>
      )}
      {output !== "" && (
        <pre class="code step-code" tabIndex={0} aria-label="Output">
          <Text value={output} />
        </pre>
      )}
      {result !== undefined && (
        <details class="step-result" open={result.isError}>
          <summary>{result.isError ? "Error" : "Result"}</summary>
          <pre class="code step-code" tabIndex={0}>
            <Text value={result.text} />
          </pre>
        </details>
      )}
    </article>
  );
}

const STATE_TONES = { running: "busy", failed: "bad", done: "ok" } as const;
