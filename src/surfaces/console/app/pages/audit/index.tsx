import type { AuditItem } from "../../../../../shared/audit/items.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Button, EmptyState, ErrorNotice, Facts, Skeleton, StatusBadge } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { countOf, formatCount, formatDuration, Text, Time } from "../../components/text.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { AuditFilterForm } from "./audit-filter.tsx";
import { useAuditRows } from "./audit-rows.ts";
import { AuditTools } from "./audit-tools.tsx";

const COLUMNS: readonly TableColumn<AuditItem>[] = [
  { title: "Record", width: "72px", isWideOnly: true, align: "end", render: ({ seq }) => formatCount(seq) },
  { title: "Time", width: "1.2fr", isWideOnly: true, render: ({ time }) => <Time at={Date.parse(String(time))} /> },
  {
    title: "Caller",
    width: "1fr",
    isWideOnly: true,
    render: ({ caller }) => <Text value={String(caller)} limit={100} />,
  },
  { title: "Method", width: "2fr", render: ({ method }) => <Text value={String(method)} limit={200} /> },
  { title: "Result", width: "1.4fr", render: (item) => <ResultBadge item={item} /> },
  {
    title: "Duration",
    width: "80px",
    isWideOnly: true,
    align: "end",
    render: ({ durationMs }) => (typeof durationMs === "number" ? formatDuration(durationMs) : ""),
  },
];

/** The decisions on calls and their ends, the newest first. */
export function AuditPage({ segments: [selected], query }: PageProps) {
  const parameters = query.toString();
  const filter = Object.fromEntries(query);
  return (
    <>
      <AuditFilterForm query={query} />
      <AuditTools parameters={parameters} />
      <Records parameters={parameters} onOpen={(seq) => navigate(formatLink(["audit", String(seq)], filter))} />
      {selected !== undefined && (
        <Dialog form="drawer" title={`Record ${selected}`} onClose={() => navigate(formatLink(["audit"], filter))}>
          <Load<AuditItem> path={`/audit/${encodeURIComponent(selected)}`}>
            {(item) => (
              <Facts
                facts={Object.fromEntries(
                  Object.entries(item).map(([name, value]) => [name, renderField(name, value)]),
                )}
              />
            )}
          </Load>
        </Dialog>
      )}
    </>
  );
}

function renderField(name: string, value: unknown) {
  if (name === "time" && typeof value === "string") return <Time at={Date.parse(value)} />;
  return <Text in="code" value={typeof value === "string" ? value : JSON.stringify(value)} limit={2_000} />;
}

interface RecordsProps {
  readonly parameters: string;
  readonly onOpen: (seq: number) => void;
}

function Records({ parameters, onOpen }: RecordsProps) {
  const { page, isLoading, error, loadMore, reload } = useAuditRows(parameters);
  const notice = error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />;
  if (page.value === undefined) return notice || <Skeleton lines={12} />;
  const { rows, next, isStored } = page.value;
  if (rows.length === 0 && next === null) return <NoRecords isFiltered={parameters !== ""} isStored={isStored} />;
  return (
    <>
      {notice}
      <VirtualTable
        label="Records"
        columns={COLUMNS}
        rows={rows}
        getKey={({ seq }) => String(seq)}
        onOpen={({ seq }) => onOpen(seq)}
      />
      <div class="row">
        <span class="muted" role="status">
          {countOf(rows.length, "record")}
        </span>
        {next !== null && <Button label="Older records" disabled={isLoading.value} onClick={loadMore} />}
      </div>
    </>
  );
}

function ResultBadge({ item: { event, decision, outcome, code } }: { readonly item: AuditItem }) {
  const reason = typeof code === "string" ? ` ${code}` : "";
  if (decision === "refused") return <StatusBadge tone="bad" label={`refused${reason}`} />;
  if (event === "decision") return <StatusBadge tone="off" label="allowed" />;
  return <StatusBadge tone={outcome === "ok" ? "ok" : "bad"} label={`${String(outcome)}${reason}`} />;
}

interface NoRecordsProps {
  readonly isFiltered: boolean;
  readonly isStored: boolean;
}

function NoRecords({ isFiltered, isStored }: NoRecordsProps) {
  if (isFiltered)
    return (
      <EmptyState icon="audit" title="No record matches the filter">
        <a href={formatLink(["audit"])}>Show all records</a>
      </EmptyState>
    );
  return (
    <EmptyState icon="audit" title="No records">
      {isStored ? (
        "Each call of a method adds some, also one that is refused."
      ) : (
        <>
          To store them, write <code>audit: store</code> in settings.yaml and start the server again.
        </>
      )}
    </EmptyState>
  );
}
