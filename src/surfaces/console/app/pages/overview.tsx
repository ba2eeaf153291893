import type { ComponentChildren } from "preact";

import type { Overview, RunSummary, ServerSummary, SessionInfo } from "../../messages.ts";
import { Chart } from "../components/chart.tsx";
import { Card, EmptyState, StatusBadge } from "../components/elements.tsx";
import { Load } from "../components/load.tsx";
import { countNoun, formatCount, formatDuration, Text, Time } from "../components/text.tsx";
import { formatLink, navigate } from "../router.ts";
import type { PageProps } from "./index.ts";

/** The state of the server: numbers, charts, servers, runs. */
export function OverviewPage({ info }: PageProps) {
  return (
    <Load<Overview> path="/overview" reloadOn={["call", "run", "catalog", "servers", "approval", "store"]}>
      {(overview) => <Content overview={overview} info={info} />}
    </Load>
  );
}

interface ContentProps {
  readonly overview: Overview;
  readonly info: SessionInfo;
}

const MINUTE_MS = 60_000;

/** Opens the runs that began in a minute. */
function openMinute(time: number, filter: Readonly<Record<string, string>> = {}): void {
  navigate(formatLink(["runs"], { since: String(time), until: String(time + MINUTE_MS), ...filter }));
}

function Content({ overview, info }: ContentProps) {
  const { minutes, servers, recentRuns, problems } = overview;
  return (
    <>
      <Numbers overview={overview} info={info} />
      <Problems problems={problems} />
      <div class="columns">
        <Card title="Runs per minute" actions={<a href={formatLink(["runs"], LAST_HOUR)}>List</a>}>
          <Chart
            label="Runs per minute in the last hour"
            unit="count"
            times={minutes.times}
            onPick={(time) => openMinute(time)}
            series={[
              { label: "Runs", color: "--accent", values: minutes.runs, isFilled: true },
              { label: "Failed or refused", color: "--bad", values: minutes.failedRuns },
            ]}
          />
        </Card>
        <Card
          title="Duration of calls"
          actions={<a href={formatLink(["runs"], { ...LAST_HOUR, sort: "duration" })}>Slowest runs</a>}
        >
          <Chart
            label="Duration of calls in the last hour"
            unit="duration"
            times={minutes.times}
            onPick={(time) => openMinute(time, { sort: "duration" })}
            series={[
              { label: "Median", color: "--accent", values: minutes.medianMs },
              { label: "95 %", color: "--warn", values: minutes.p95Ms },
            ]}
          />
        </Card>
      </div>
      <div class="columns">
        <Card title="Servers" actions={<a href={formatLink(["servers"])}>All</a>}>
          <Servers servers={servers} />
        </Card>
        <Card title="Recent runs" actions={<a href={formatLink(["runs"])}>All</a>}>
          <Runs runs={recentRuns} />
        </Card>
      </div>
    </>
  );
}

const LAST_HOUR = { hours: "1" };

function Numbers({ overview, info }: ContentProps) {
  const { minutes, skills, methods, waitingApprovals, servers } = overview;
  const calls = sum(minutes.calls);
  const failed = sum(minutes.failedCalls);
  const connected = servers.filter(({ status }) => status === "connected").length;
  return (
    <dl class="numbers">
      <Figure
        label="Methods"
        href={formatLink(["methods"])}
        value={methods}
        note={`in ${countNoun(skills, "skill")}`}
      />
      <Figure
        label="Servers connected"
        href={formatLink(["servers"])}
        value={connected}
        note={`of ${servers.length}`}
      />
      <Figure
        label="Runs, last hour"
        href={formatLink(["runs"], LAST_HOUR)}
        value={sum(minutes.runs)}
        note={
          <a href={formatLink(["runs"], { ...LAST_HOUR, state: "failed,refused" })}>
            {sum(minutes.failedRuns)} failed or refused
          </a>
        }
      />
      <Figure
        label="Calls, last hour"
        href={info.admin.length > 0 ? formatLink(["audit"], { since: String(Math.min(...minutes.times)) }) : undefined}
        value={calls}
        note={calls === 0 ? "no errors" : `${((failed / calls) * 100).toFixed(1)} % errors`}
      />
      {waitingApprovals !== null && (
        <Figure
          label="Waiting approvals"
          href={formatLink(["approvals"])}
          value={waitingApprovals}
          note={waitingApprovals === 0 ? "nothing to answer" : "answer them"}
          isUrgent={waitingApprovals > 0}
        />
      )}
    </dl>
  );
}

interface FigureProps {
  readonly label: string;
  /** The page that lists what is counted. */
  readonly href?: string | undefined;
  readonly value: number;
  readonly note: ComponentChildren;
  readonly isUrgent?: boolean;
}

function Figure({ label, href, value, note, isUrgent = false }: FigureProps) {
  return (
    <div class={isUrgent ? "number number-urgent" : "number"}>
      <dt class="muted small">{href === undefined ? label : <a href={href}>{label}</a>}</dt>
      <dd class="number-value">{formatCount(value)}</dd>
      <dd class="muted small">{note}</dd>
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
            <Text in="strong" value={source} limit={200} />
            <Text in="div" value={error} limit={600} />
            {fix !== null && <Text in="div" class="muted" value={fix} limit={600} />}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Servers({ servers }: { readonly servers: readonly ServerSummary[] }) {
  if (servers.length === 0)
    return (
      <EmptyState icon="servers" title="No MCP servers">
        <a href={formatLink(["servers"])}>Add one</a>, or import those of another client:{" "}
        <code>skillgate mcp import claude-code</code>
      </EmptyState>
    );
  return (
    <ul class="list">
      {servers.map(({ name, status, error, toolCount }) => (
        <li key={name} class="list-row">
          <span class="list-main">
            <Text href={formatLink(["servers", "server", name])} value={name} limit={100} />
            {error !== null && status !== "connected" && (
              <Text in="span" class="muted clip" value={error} limit={300} />
            )}
          </span>
          <span class="muted">{countNoun(toolCount, "tool")}</span>
          <StatusBadge label={status} />
        </li>
      ))}
    </ul>
  );
}

function Runs({ runs }: { readonly runs: readonly RunSummary[] }) {
  if (runs.length === 0)
    return (
      <EmptyState icon="runs" title="No runs since the server started">
        Try <a href={formatLink(["search"])}>a search</a>, or connect a client:{" "}
        <code>skillgate connect claude-code</code>
      </EmptyState>
    );
  return (
    <ul class="list">
      {runs.map(({ runId, time, kind, code, calls, durationMs }) => (
        <li key={`${runId} ${time}`} class="list-row">
          <span class="list-main">
            <a href={formatLink(["runs", runId])}>
              <StatusBadge label={kind} />
            </a>
            {code !== null && <code>{code}</code>}
          </span>
          <span class="muted">{countNoun(calls, "call")}</span>
          <span class="muted">{formatDuration(durationMs)}</span>
          <Time at={time} />
        </li>
      ))}
    </ul>
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
