import type { RecordedRunSummary, RunComparison } from "../../../messages.ts";
import { Card, EmptyState } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Code } from "../../components/text.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { RunDetail } from "./detail.tsx";
import type { RunQuery } from "./run-filter.tsx";
import { RunTable } from "./run-table.tsx";

/** The recorded runs, one of them, or two beside each other. */
export function RunsPage({ info, segments: [id, action, other], query }: PageProps) {
  if (id !== undefined && action === "diff" && other !== undefined)
    return <RunComparisonView first={id} second={other} />;
  if (id !== undefined) return <RunDetail id={id} key={id} />;
  return <RunList query={query} hasCallers={info.admin.length > 0} />;
}

function RunList({ query, hasCallers }: { readonly query: URLSearchParams; readonly hasCallers: boolean }) {
  const open = ({ id }: RecordedRunSummary, filter: RunQuery): void => navigate(formatLink(["runs", id], filter));
  return (
    <RunTable segments={["runs"]} query={query} hasCallers={hasCallers} onOpen={open}>
      <EmptyState icon="runs" title="No runs">
        Run a program in the <a href={formatLink(["playground"])}>playground</a>. Of runs without an effect, the newest
        200 of the server are listed; all are recorded with the setting <code>runs.record: full</code>.
      </EmptyState>
    </RunTable>
  );
}

/** The differences between two runs, call by call. */
function RunComparisonView({ first, second }: { readonly first: string; readonly second: string }) {
  return (
    <>
      <p class="muted">
        <a href={formatLink(["runs", first])}>Run {first.slice(0, 8)}</a> and{" "}
        <a href={formatLink(["runs", second])}>run {second.slice(0, 8)}</a>
      </p>
      <Load<RunComparison> path={`/runs/${encodeURIComponent(first)}/diff/${encodeURIComponent(second)}`}>
        {({ differences }) => <Differences differences={differences} />}
      </Load>
    </>
  );
}

function Differences({ differences }: Pick<RunComparison, "differences">) {
  if (differences.length === 0)
    return (
      <EmptyState icon="runs" title="The runs are the same">
        Program, calls, answers and outcome are equal.
      </EmptyState>
    );
  return (
    <>
      {differences.map(({ call, path, part, first, second }, at) => (
        <Card key={at} title={call === undefined ? part : `Call ${call}, ${path}: ${part}`}>
          <div class="columns">
            <Code label="First run" value={first} />
            <Code label="Second run" value={second} />
          </div>
        </Card>
      ))}
    </>
  );
}
