import type { RecordedRunSummary } from "../../../program-messages.ts";
import { EmptyState } from "../../components/elements.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { RunChooser, RunComparisonView } from "./compare.tsx";
import { RunDetail } from "./detail.tsx";
import { readRunQuery, type RunQuery } from "./run-filter.tsx";
import { RunTable } from "./run-table.tsx";

/** The runs, one of them, or two beside each other. */
export function RunsPage({ info, segments: [id, action, other], query }: PageProps) {
  const hasCallers = info.admin.length > 0;
  if (id === undefined) return <RunList query={query} hasCallers={hasCallers} />;
  if (action !== "diff") return <RunDetail id={id} query={readRunQuery(query)} key={id} />;
  if (other === undefined) return <RunChooser id={id} query={query} hasCallers={hasCallers} key={id} />;
  return <RunComparisonView first={id} second={other} />;
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
