import type { Overview, RunSummary, ServerSummary } from "../../messages.ts";
import { Card } from "../components/card.tsx";
import { Chart } from "../components/chart.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorNotice } from "../components/error-notice.tsx";
import { ServerBadge } from "../components/server-badge.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { StatusBadge } from "../components/status-badge.tsx";
import { formatCount, Text } from "../components/text.tsx";
import { formatDuration, Time } from "../components/time.tsx";
import { formatLink } from "../router.ts";
import { useResource } from "../state/resource.ts";

/** The state of the server: numbers, charts, servers, runs. */
export function OverviewPage() {
  const { data, error, reload } = useResource<Overview>("/overview", {
    reloadOn: ["call", "run", "catalog", "servers", "approval"],
  });
  const overview = data.value;
  return (
    <>
      {error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {overview === undefined ? error.value === undefined && <Skeleton lines={8} /> : <Content overview={overview} />}
    </>
  );
}

function Content({ overview }: { readonly overview: Overview }) {
  const { minutes, servers, recentRuns, problems } = overview;
  return (
    <>
      <Numbers overview={overview} />
      <Problems problems={problems} />
      <div class="columns">
        <Card title="Runs per minute">
          <Chart
            label="Runs per minute in the last hour"
            unit="count"
            times={minutes.times}
            series={[
              { label: "Runs", color: "--accent", values: minutes.runs, isFilled: true },
              { label: "Failed or refused", color: "--bad", values: minutes.failedRuns },
            ]}
          />
        </Card>
        <Card title="Duration of calls">
          <Chart
            label="Duration of calls in the last hour"
            unit="duration"
            times={minutes.times}
            series={[
              { label: "Median", color: "--accent", values: minutes.medianMs },
              { label: "95 %", color: "--warn", values: minutes.p95Ms },
            ]}
          />
        </Card>
      </div>
      <div class="columns">
        <Card title="Servers">{servers.length === 0 ? <NoServers /> : <Servers servers={servers} />}</Card>
        <Card title="Recent runs">{recentRuns.length === 0 ? <NoRuns /> : <Runs runs={recentRuns} />}</Card>
      </div>
    </>
  );
}

function Numbers({ overview }: { readonly overview: Overview }) {
  const { minutes, skills, methods, waitingApprovals, servers } = overview;
  const calls = sum(minutes.calls);
  const failed = sum(minutes.failedCalls);
  const connected = servers.filter(({ status }) => status === "connected").length;
  return (
    <dl class="numbers">
      <Figure
        label="Methods"
        value={formatCount(methods)}
        note={skills === 1 ? "in 1 skill" : `in ${formatCount(skills)} skills`}
      />
      <Figure label="Servers connected" value={String(connected)} note={`of ${servers.length}`} />
      <Figure
        label="Runs, last hour"
        value={formatCount(sum(minutes.runs))}
        note={`${sum(minutes.failedRuns)} failed`}
      />
      <Figure
        label="Calls, last hour"
        value={formatCount(calls)}
        note={calls === 0 ? "no errors" : `${((failed / calls) * 100).toFixed(1)} % errors`}
      />
      {waitingApprovals !== null && (
        <Figure
          label="Waiting approvals"
          value={formatCount(waitingApprovals)}
          note={waitingApprovals === 0 ? "nothing to answer" : "answer them"}
          isUrgent={waitingApprovals > 0}
        />
      )}
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly note: string;
  readonly isUrgent?: boolean;
}

function Figure({ label, value, note, isUrgent = false }: FigureProps) {
  return (
    <div class={isUrgent ? "number number-urgent" : "number"}>
      <dt>{label}</dt>
      <dd class="number-value">{value}</dd>
      <dd class="number-note">{note}</dd>
    </div>
  );
}

function Problems({ problems }: Pick<Overview, "problems">) {
  if (problems.length === 0) return null;
  return (
    <Card title="Problems">
      <ul class="list">
        {problems.map(({ source, error, fix }) => (
          <li key={`${source} ${error}`}>
            <strong>
              <Text value={source} limit={200} />
            </strong>
            <div>
              <Text value={error} limit={600} />
            </div>
            {fix !== null && (
              <div class="muted">
                <Text value={fix} limit={600} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Servers({ servers }: { readonly servers: readonly ServerSummary[] }) {
  return (
    <ul class="list">
      {servers.map(({ name, status, error, toolCount }) => (
        <li key={name} class="list-row">
          <span class="list-main">
            <a href={formatLink(["servers", "server", name])}>
              <Text value={name} limit={100} />
            </a>
            {error !== null && status !== "connected" && (
              <span class="muted clip">
                <Text value={error} limit={300} />
              </span>
            )}
          </span>
          <span class="muted">{toolCount} tools</span>
          <ServerBadge status={status} />
        </li>
      ))}
    </ul>
  );
}

function Runs({ runs }: { readonly runs: readonly RunSummary[] }) {
  return (
    <ul class="list">
      {runs.map((run) => (
        <li key={`${run.runId} ${run.time}`} class="list-row">
          <span class="list-main">
            <RunBadge run={run} />
            {run.code !== null && <code class="clip">{run.code}</code>}
          </span>
          <span class="muted">{run.calls === 1 ? "1 call" : `${run.calls} calls`}</span>
          <span class="muted">{formatDuration(run.durationMs)}</span>
          <Time at={run.time} />
        </li>
      ))}
    </ul>
  );
}

const RUN_TONES = { completed: "ok", failed: "bad", refused: "warn", waiting: "busy" } as const;

function RunBadge({ run: { kind } }: { readonly run: RunSummary }) {
  return <StatusBadge tone={RUN_TONES[kind]} label={kind} />;
}

function NoServers() {
  return (
    <EmptyState icon="servers" title="No MCP servers">
      <a href={formatLink(["servers"])}>Add one</a>, or import those of another client:{" "}
      <code>skillgate mcp import claude-code</code>
    </EmptyState>
  );
}

function NoRuns() {
  return (
    <EmptyState icon="runs" title="No runs since the server started">
      Try <a href={formatLink(["search"])}>a search</a>, or connect a client: <code>skillgate connect claude-code</code>
    </EmptyState>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
