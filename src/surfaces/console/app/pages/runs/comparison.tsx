import type { RunComparison } from "../../../messages.ts";
import { Card, EmptyState } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { Code } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";

/** The differences between two runs, call by call. */
export function RunComparisonView({ first, second }: { readonly first: string; readonly second: string }) {
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
