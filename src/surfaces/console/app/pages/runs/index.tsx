import { useEffect, useState } from "preact/hooks";

import { RECORDED_RUN_STATES, type RecordedRunSummary } from "../../../run-messages.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { PagedTable } from "../../components/paged-table.tsx";
import { Text } from "../../components/text.tsx";
import { Time } from "../../components/time.tsx";
import type { TableColumn } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import { useIsNarrow } from "../../state/narrow.ts";
import type { PageProps } from "../index.ts";
import { RunComparisonView } from "./comparison.tsx";
import { RunDetail } from "./detail.tsx";
import { RunStateBadge } from "./run-state-badge.tsx";

const COLUMNS: readonly TableColumn<RecordedRunSummary>[] = [
  { title: "State", width: "104px", render: ({ state }) => <RunStateBadge state={state} /> },
  { title: "Program", width: "4fr", render: ({ title }) => <Text value={title} limit={200} /> },
  { title: "Caller", width: "1fr", render: ({ caller }) => <Text value={caller} limit={80} /> },
  { title: "Calls", width: "64px", align: "end", render: ({ calls }) => calls },
  { title: "Began", width: "1.2fr", align: "end", render: ({ created }) => <Time at={created} /> },
];

/** A narrow window has no place for all of them. */
const NARROW_COLUMNS = COLUMNS.filter(({ title }) => title === "State" || title === "Program");

/** Milliseconds without a key after which a filter counts. */
const PAUSE_MS = 250;

/** The recorded runs, one of them, or two beside each other. */
export function RunsPage({ info, segments: [id, action, other], query }: PageProps) {
  if (id !== undefined && action === "diff" && other !== undefined)
    return <RunComparisonView first={id} second={other} />;
  if (id !== undefined) return <RunDetail id={id} key={id} />;
  return <RunList query={query} isAdmin={info.admin !== null} />;
}

function RunList({ query, isAdmin }: { readonly query: URLSearchParams; readonly isAdmin: boolean }) {
  const filter = {
    state: query.get("state") ?? "",
    caller: query.get("caller") ?? "",
    text: query.get("text") ?? "",
  };
  const isNarrow = useIsNarrow();
  const isFiltered = Object.values(filter).some((each) => each !== "");
  const select = (change: Partial<typeof filter>): void =>
    navigate(formatLink(["runs"], { ...filter, ...change }), { replace: true });
  const words = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ""));
  return (
    <>
      <div class="toolbar">
        <label class="field field-inline">
          <span class="visually-hidden">Text in the first line of the program</span>
          <FilterInput placeholder="Filter by the program" value={filter.text} onChange={(text) => select({ text })} />
        </label>
        {isAdmin && (
          <label class="field">
            <span class="visually-hidden">Caller</span>
            <FilterInput placeholder="Caller" value={filter.caller} onChange={(caller) => select({ caller })} />
          </label>
        )}
        <label class="field">
          <span class="visually-hidden">State</span>
          <select value={filter.state} onChange={({ currentTarget }) => select({ state: currentTarget.value })}>
            <option value="">Every state</option>
            {RECORDED_RUN_STATES.map((state) => (
              <option key={state} value={state}>
                {state}
              </option>
            ))}
          </select>
        </label>
      </div>
      <PagedTable
        label="Runs"
        columns={isNarrow ? NARROW_COLUMNS : COLUMNS}
        path={`/runs${words.size > 0 ? `?${words}` : ""}`}
        reloadOn={["run", "call", "approvals"]}
        nouns={["run", "runs"]}
        getKey={(run: RecordedRunSummary) => run.id}
        onOpen={(run) => navigate(formatLink(["runs", run.id]))}
      >
        <NoRecordedRuns isFiltered={isFiltered} />
      </PagedTable>
    </>
  );
}

interface FilterInputProps {
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}

function FilterInput({ placeholder, value, onChange }: FilterInputProps) {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onChange(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <input
      type="search"
      placeholder={placeholder}
      maxLength={200}
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}

function NoRecordedRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState icon="runs" title="No run matches the filter">
        <a href={formatLink(["runs"])}>Show all runs</a>
      </EmptyState>
    );
  return (
    <EmptyState icon="runs" title="No recorded runs">
      Run a program in the <a href={formatLink(["playground"])}>playground</a>. A run without an effect is recorded only
      with the setting <code>runs.record: full</code>.
    </EmptyState>
  );
}
