import type { RunComparison, RunDifferenceSummary } from "../../../run-messages.ts";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { useResource } from "../../state/resource.ts";

/** The differences between two runs, call by call. */
export function RunComparisonView({ first, second }: { readonly first: string; readonly second: string }) {
  const path = `/runs/${encodeURIComponent(first)}/diff/${encodeURIComponent(second)}`;
  const { data, error, reload } = useResource<RunComparison>(path);
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (data.value === undefined) return <Skeleton lines={8} />;
  const { differences } = data.value;
  return (
    <>
      <p class="lead">
        <a href={formatLink(["runs", first])}>Run {first.slice(0, 8)}</a> and{" "}
        <a href={formatLink(["runs", second])}>run {second.slice(0, 8)}</a>
      </p>
      {differences.length === 0 ? (
        <EmptyState icon="runs" title="The runs are the same">
          Program, calls, answers and outcome are equal.
        </EmptyState>
      ) : (
        differences.map((difference, at) => <Difference key={at} difference={difference} />)
      )}
    </>
  );
}

function Difference({
  difference: { call, path, part, first, second },
}: {
  readonly difference: RunDifferenceSummary;
}) {
  return (
    <Card title={call === undefined ? part : `Call ${call}, ${path}: ${part}`}>
      <div class="columns">
        <pre class="code" tabIndex={0} aria-label="First run">
          <Text value={first} />
        </pre>
        <pre class="code" tabIndex={0} aria-label="Second run">
          <Text value={second} />
        </pre>
      </div>
    </Card>
  );
}
