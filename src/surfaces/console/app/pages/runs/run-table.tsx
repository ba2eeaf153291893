import type { ComponentChildren } from "preact";

import type { RecordedRunSummary } from "../../../program-messages.ts";
import { EmptyState, StatusBadge } from "../../components/elements.tsx";
import { PagedTable } from "../../components/paged-table.tsx";
import { countNoun, formatDuration, Text, Time } from "../../components/text.tsx";
import type { TableColumn } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import { hasFilter, readRunQuery, RunFilterBar, type RunQuery } from "./run-filter.tsx";

const COLUMNS: readonly TableColumn<RecordedRunSummary>[] = [
  { title: "State", width: "104px", order: "state", render: ({ state }) => <StatusBadge label={state} /> },
  { title: "Program", width: "4fr", render: ({ title }) => <Text in="code" value={title} limit={200} /> },
  {
    title: "Caller",
    width: "1fr",
    narrow: "below",
    order: "caller",
    render: ({ caller }) => <Text value={caller} limit={80} />,
  },
  {
    title: "Calls",
    width: "72px",
    narrow: "below",
    align: "end",
    order: "calls",
    render: ({ calls }) => countNoun(calls, "call"),
  },
  {
    title: "Duration",
    width: "88px",
    narrow: "below",
    align: "end",
    order: "duration",
    render: ({ ended, duration }) => (ended === null ? "" : formatDuration(duration)),
  },
  {
    title: "Began",
    width: "136px",
    narrow: "below",
    align: "end",
    order: "created",
    render: ({ created }) => <Time at={created} />,
  },
];

interface RunTableProps {
  /** The address of the page, whose query is the filter. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly hasCallers: boolean;
  /** Leaves out the runs that have no record. */
  readonly isRecorded?: boolean;
  readonly onOpen: (run: RecordedRunSummary, query: RunQuery) => void;
  /** Stands in place of a list that has no filter and no runs. */
  readonly children: ComponentChildren;
}

/** The list of runs with its filter and its order, both of which the address has. */
export function RunTable({ segments, query: address, hasCallers, isRecorded, onOpen, children }: RunTableProps) {
  const query = readRunQuery(address);
  const change = (changes: Partial<RunQuery>): void =>
    navigate(formatLink(segments, { ...query, ...changes }), { replace: true });
  return (
    <>
      <RunFilterBar query={query} onChange={change} hasCallers={hasCallers} />
      <PagedTable
        label="Runs"
        columns={COLUMNS}
        path={`/runs?${formatRunQuery(query, isRecorded)}`}
        reloadOn={["run", "call", "approvals"]}
        noun="run"
        getKey={(run: RecordedRunSummary) => run.id}
        onOpen={(run) => onOpen(run, query)}
        sorting={{
          order: query.sort || "created",
          isUpward: query.order === "up",
          onSort: (sort, isUpward) => change({ sort: sort === "created" ? "" : sort, order: isUpward ? "up" : "" }),
        }}
      >
        {hasFilter(query) ? (
          <EmptyState icon="runs" title="No run matches the filter">
            <a href={formatLink(segments)}>Show all runs</a>
          </EmptyState>
        ) : (
          children
        )}
      </PagedTable>
    </>
  );
}

/** Returns the query of a request for a list of runs. */
export function formatRunQuery(query: Partial<RunQuery>, isRecorded = false): string {
  const words = Object.entries({ ...query, recorded: isRecorded ? "1" : "" }).filter(([, value]) => value !== "");
  return new URLSearchParams(words).toString();
}
