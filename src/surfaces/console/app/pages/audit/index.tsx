import type { AuditItem } from "../../../../../shared/audit/items.ts";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { formatCount, Text } from "../../components/text.tsx";
import { formatDuration, Time } from "../../components/time.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import { useIsNarrow } from "../../state/narrow.ts";
import type { PageProps } from "../index.ts";
import { AuditDrawer } from "./audit-drawer.tsx";
import { AuditFilterForm } from "./audit-filter.tsx";
import { AuditTools } from "./audit-tools.tsx";
import { useAuditRows } from "./audit-rows.ts";

const COLUMNS: readonly TableColumn<AuditItem>[] = [
  { title: "Record", width: "72px", render: ({ seq }) => formatCount(seq), align: "end" },
  { title: "Time", width: "1.2fr", render: ({ time }) => <Time at={Date.parse(String(time))} /> },
  { title: "Caller", width: "1fr", render: ({ caller }) => <Text value={String(caller)} limit={100} /> },
  { title: "Method", width: "2fr", render: ({ method }) => <Text value={String(method)} limit={200} /> },
  { title: "Result", width: "1.4fr", render: (item) => <ResultBadge item={item} /> },
  {
    title: "Duration",
    width: "80px",
    align: "end",
    render: ({ durationMs }) => (typeof durationMs === "number" ? formatDuration(durationMs) : ""),
  },
];

/** A narrow window has no place for all of them. */
const NARROW_COLUMNS = COLUMNS.filter(({ title }) => title === "Method" || title === "Result");

/** The decisions on calls and their ends, the newest first. */
export function AuditPage({ segments: [selected], query }: PageProps) {
  const parameters = query.toString();
  const { rows, hasMore, isStored, isLoading, error, loadMore, reload } = useAuditRows(parameters);
  const isNarrow = useIsNarrow();
  const filter = Object.fromEntries(query);
  const close = (): void => navigate(formatLink(["audit"], filter));
  return (
    <>
      <AuditFilterForm query={query} />
      <AuditTools parameters={parameters} />
      {error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {rows.value === undefined ? (
        error.value === undefined && <Skeleton lines={12} />
      ) : rows.value.length === 0 && !hasMore.value ? (
        <NoRecords isFiltered={parameters !== ""} isStored={isStored.value} />
      ) : (
        <>
          <VirtualTable
            label="Records"
            columns={isNarrow ? NARROW_COLUMNS : COLUMNS}
            rows={rows.value}
            getKey={({ seq }) => String(seq)}
            onOpen={({ seq }) => navigate(formatLink(["audit", String(seq)], filter))}
          />
          <div class="toolbar">
            <span class="muted" role="status">
              {formatCount(rows.value.length)} {rows.value.length === 1 ? "record" : "records"}
            </span>
            {hasMore.value && (
              <button type="button" class="button" disabled={isLoading.value} onClick={loadMore}>
                Older records
              </button>
            )}
          </div>
        </>
      )}
      {selected !== undefined && <AuditDrawer seq={selected} onClose={close} />}
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
