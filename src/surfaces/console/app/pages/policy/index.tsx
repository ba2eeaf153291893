import type { PolicyRowSummary, PolicySummary } from "../../../admin-messages.ts";
import { Card } from "../../components/card.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { useResource } from "../../state/resource.ts";
import type { PageProps } from "../index.ts";
import { DecisionBadge } from "./decision-badge.tsx";
import { Explain } from "./explain.tsx";
import { TestTable } from "./test-table.tsx";

/** The rules that are in force, where they stand, and why they decide as they do. Files change them; this page does not. */
export function PolicyPage({ query }: PageProps) {
  const { data, error, reload } = useResource<PolicySummary>("/policy", { reloadOn: ["catalog"] });
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (data.value === undefined) return <Skeleton lines={8} />;
  const { file, rows, flows, roles, problems, asksDestructive, onlyTightens } = data.value;
  return (
    <>
      <p class="lead">
        {asksDestructive ? "Destructive calls ask first, unless a row decides. " : ""}
        {onlyTightens ? "The project is not trusted, so its policy can only tighten. " : ""}
        The rules are in <code>{file}</code>; a change is in force as soon as the file is saved.
      </p>
      {problems.length > 0 && <Problems problems={problems} />}
      <Explain query={query} file={file} />
      <Card title={rows.length === 1 ? "1 row" : `${rows.length} rows`}>
        {rows.length === 0 ? (
          <EmptyState icon="policy" title="No rows">
            The metadata of each method decides. To write rows, run <code>skillgate policy init</code>.
          </EmptyState>
        ) : (
          <ul class="list">
            {rows.map((row) => (
              <Row key={row.line} row={row} file={file} />
            ))}
          </ul>
        )}
      </Card>
      {flows.length > 0 && (
        <Card title="Flows">
          <ul class="list">
            {flows.map(({ from, to, decision }) => (
              <li key={`${from} ${to}`} class="list-row">
                <span class="list-main">
                  Results of <Text value={from} limit={200} /> in calls of <Text value={to} limit={200} />
                </span>
                <DecisionBadge decision={decision} />
              </li>
            ))}
          </ul>
        </Card>
      )}
      {roles.length > 0 && (
        <Card title="Roles">
          <ul class="list">
            {roles.map(({ name, scopes }) => (
              <li key={name} class="list-row">
                <span class="list-main">
                  <Text value={name} limit={100} />
                </span>
                <code>
                  <Text value={scopes.join(" ")} limit={300} />
                </code>
              </li>
            ))}
          </ul>
        </Card>
      )}
      <TestTable />
    </>
  );
}

function Problems({ problems }: Pick<PolicySummary, "problems">) {
  return (
    <div class="notice notice-error" role="alert">
      <p class="notice-title">The files have mistakes. The policy before the change stays in force.</p>
      <ul>
        {problems.map((problem) => (
          <li key={problem}>
            <Text value={problem} limit={600} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Row({ row: { key, line, fields, methods }, file }: { readonly row: PolicyRowSummary; readonly file: string }) {
  const { decision, ...others } = fields;
  return (
    <li class="list-row">
      <span class="list-main">
        <code>
          <Text value={key} limit={200} />
        </code>
        <span class="policy-fields muted">
          {Object.entries(others).map(([name, value]) => (
            <span key={name}>
              {name}: <Text value={JSON.stringify(value)} limit={200} />
            </span>
          ))}
          <span>{methods === 1 ? "1 method" : `${methods.toLocaleString()} methods`}</span>
        </span>
      </span>
      <span class="muted" title={`${file}, line ${line}`}>
        line {line}
      </span>
      {typeof decision === "string" && <DecisionBadge decision={decision} />}
    </li>
  );
}
