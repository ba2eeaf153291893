import type { CallSummary, MethodAccess, MethodDetail, SessionInfo } from "../../../messages.ts";
import { Card, Facts, StatusBadge } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Code, countNoun, formatCount, formatDuration, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { TryMethod } from "./try-method.tsx";

interface MethodPageProps {
  readonly path: string;
  readonly info: SessionInfo;
}

/** One method: its form, its description, its calls, its callers and its source. */
export function MethodPage({ path, info }: MethodPageProps) {
  return (
    <>
      <p>
        <a href={formatLink(["methods"])}>All methods</a>
      </p>
      <Load<MethodDetail> path={`/methods/${encodeURIComponent(path)}`} reloadOn={["call", "catalog"]}>
        {(method) => (
          <>
            <TryMethod method={method} info={info} />
            <div class="columns">
              <Card title="Description for a model">
                <Code label="Description for a model" value={method.text} />
              </Card>
              <div class="stack">
                <Calls method={method} />
                <Callers callers={method.callers} />
              </div>
            </div>
            {method.source !== null && (
              <Card title={`Source: ${method.source.file}`}>
                <Code label="Source" value={method.source.text} />
              </Card>
            )}
          </>
        )}
      </Load>
    </>
  );
}

function Calls({ method: { statistics, calls } }: { readonly method: MethodDetail }) {
  if (statistics === null)
    return (
      <Card title="Earlier calls">
        <p class="muted">No calls since the start of the server</p>
      </Card>
    );
  const { total, failed, averageMs, p95Ms, lastUsed } = statistics;
  return (
    <Card title={countNoun(total, "call")}>
      <Facts
        facts={{
          Failed: formatCount(failed),
          Average: formatDuration(averageMs),
          "95 percent": `at most ${formatDuration(p95Ms)}`,
          Last: <Time at={lastUsed} />,
        }}
      />
      <ul class="list">
        {calls.map((call) => (
          <RecentCall key={`${call.runId} ${call.callId}`} call={call} />
        ))}
      </ul>
    </Card>
  );
}

function RecentCall({ call: { runId, caller, code, durationMs, outcome, time } }: { readonly call: CallSummary }) {
  return (
    <li class="list-row">
      <span class="list-main">
        <a href={formatLink(["runs", runId])}>run {runId.slice(0, 8)}</a>
        <Text in="span" class="muted" value={caller} limit={60} />
        <span class="muted">
          <Time at={time} />
        </span>
      </span>
      <span class="muted">{formatDuration(durationMs)}</span>
      <StatusBadge state={outcome} label={code ?? outcome} />
    </li>
  );
}

function Callers({ callers }: { readonly callers: readonly MethodAccess[] }) {
  return (
    <Card title="Who may call it">
      <ul class="list">
        {callers.map(({ caller, decision, reason }, at) => (
          <li key={at} class="list-row">
            <span class="list-main">
              <Text value={caller} limit={100} />
              <Text in="span" class="muted line" value={reason} limit={300} />
            </span>
            <StatusBadge label={decision} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
