import { RECORDED_RUN_STATES, type RecordedRunSummary, type RunComparison } from "../../../messages.ts";
import { Card, EmptyState, StatusBadge } from "../../components/elements.tsx";
import { type Choice, Field, FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { PagedTable } from "../../components/paged-table.tsx";
import { Code, countNoun, formatDuration, Text, Time } from "../../components/text.tsx";
import type { TableColumn } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { RunDetail } from "./detail.tsx";

const COLUMNS: readonly TableColumn<RecordedRunSummary>[] = [
  { title: "State", width: "104px", render: ({ state }) => <StatusBadge label={state} /> },
  { title: "Program", width: "4fr", render: ({ title }) => <Text value={title} limit={200} /> },
  { title: "Caller", width: "1fr", narrow: "below", render: ({ caller }) => <Text value={caller} limit={80} /> },
  { title: "Calls", width: "72px", narrow: "below", align: "end", render: ({ calls }) => countNoun(calls, "call") },
  { title: "Duration", width: "72px", narrow: "below", align: "end", render: renderDuration },
  { title: "Began", width: "136px", narrow: "below", align: "end", render: ({ created }) => <Time at={created} /> },
];

function renderDuration({ created, ended }: RecordedRunSummary): string {
  return ended === null ? "" : formatDuration(ended - created);
}

/** The recorded runs, one of them, or two beside each other. */
export function RunsPage({ info, segments: [id, action, other], query }: PageProps) {
  if (id !== undefined && action === "diff" && other !== undefined)
    return <RunComparisonView first={id} second={other} />;
  if (id !== undefined) return <RunDetail id={id} key={id} />;
  return <RunList query={query} isAdmin={info.admin.length > 0} />;
}

const TIMES: readonly Choice[] = [
  ["", "At any time"],
  ["1", "Last hour"],
  ["24", "Last day"],
  ["168", "Last week"],
];

function RunList({ query, isAdmin }: { readonly query: URLSearchParams; readonly isAdmin: boolean }) {
  const { state = "", caller = "", text = "", hours = "" } = Object.fromEntries(query);
  const filter = { state, caller, text, hours };
  const select = (change: Partial<typeof filter>): void =>
    navigate(formatLink(["runs"], { ...filter, ...change }), { replace: true });
  const words = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ""));
  return (
    <>
      <div class="row">
        <FilterField
          label="Text in the first line of the program"
          placeholder="Filter by the program"
          class="wide"
          value={text}
          onChange={(value) => select({ text: value })}
        />
        {isAdmin && (
          <FilterField
            label="Caller"
            placeholder="Caller"
            value={caller}
            onChange={(value) => select({ caller: value })}
          />
        )}
        <Field
          name="state"
          label="State"
          isLabelHidden
          value={state}
          choices={[["", "Every state"], ...RECORDED_RUN_STATES.map((each) => [each, each] as const)]}
          onText={(value) => select({ state: value })}
        />
        <Field
          name="hours"
          label="Time"
          isLabelHidden
          value={hours}
          choices={TIMES}
          onText={(value) => select({ hours: value })}
        />
      </div>
      <PagedTable
        label="Runs"
        columns={COLUMNS}
        path={`/runs${words.size > 0 ? `?${words}` : ""}`}
        reloadOn={["run", "call", "approvals"]}
        noun="run"
        getKey={(run: RecordedRunSummary) => run.id}
        onOpen={(run) => navigate(formatLink(["runs", run.id]))}
      >
        {words.size > 0 ? (
          <EmptyState icon="runs" title="No run matches the filter">
            <a href={formatLink(["runs"])}>Show all runs</a>
          </EmptyState>
        ) : (
          <EmptyState icon="runs" title="No runs">
            Run a program in the <a href={formatLink(["playground"])}>playground</a>. Of runs without an effect, the
            newest 200 of the server are listed; all are recorded with the setting <code>runs.record: full</code>.
          </EmptyState>
        )}
      </PagedTable>
    </>
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
