import { useSignal } from "@preact/signals";

import type { AuditItem } from "../../../../../shared/audit/items.ts";
import type { AuditCheck } from "../../../messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Button, EmptyState, ErrorNotice, Facts, Skeleton, StatusBadge } from "../../components/elements.tsx";
import { type Choice, Field, Form, type FormValues } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { toLocalTime, toMilliseconds } from "../../components/local-time.ts";
import { countNoun, formatCount, formatDuration, Text, Time } from "../../components/text.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { useAuditRows } from "./audit-rows.ts";

const COLUMNS: readonly TableColumn<AuditItem>[] = [
  { title: "Record", width: "72px", narrow: "hidden", align: "end", render: ({ seq }) => formatCount(seq) },
  { title: "Time", width: "136px", narrow: "below", render: ({ time }) => <Time at={Date.parse(String(time))} /> },
  {
    title: "Caller",
    width: "1fr",
    narrow: "below",
    render: ({ caller }) => <Text value={String(caller)} limit={100} />,
  },
  { title: "Method", width: "2fr", render: ({ method }) => <Text value={String(method)} limit={200} /> },
  { title: "Result", width: "184px", render: (item) => <ResultBadge item={item} /> },
  {
    title: "Duration",
    width: "80px",
    narrow: "below",
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
        rows={foldCalls(rows)}
        getKey={({ seq }) => String(seq)}
        onOpen={({ seq }) => onOpen(seq)}
      />
      <div class="row">
        <span class="muted" role="status">
          {countNoun(rows.length, "record")}
        </span>
        {next !== null && <Button label="Older records" disabled={isLoading.value} onClick={loadMore} />}
      </div>
    </>
  );
}

/** Leaves out the record that allows a call, where that of its end is listed, too. */
function foldCalls(rows: readonly AuditItem[]): readonly AuditItem[] {
  const getCall = ({ runId, callId }: AuditItem): string => `${String(runId)} ${String(callId)}`;
  const ended = new Set(rows.filter(({ event }) => event !== "decision").map(getCall));
  return rows.filter((row) => row.event !== "decision" || row.decision === "refused" || !ended.has(getCall(row)));
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

const DECISIONS: readonly Choice[] = [
  ["", "all"],
  ["allowed", "allowed"],
  ["refused", "refused"],
];

/** The filter of the records. The address of the page has it, so that it can be shared. */
function AuditFilterForm({ query }: { readonly query: URLSearchParams }) {
  const { caller, method, decision, since, until } = Object.fromEntries(query);
  const select = ({ since: from = "", until: to = "", ...texts }: FormValues): void =>
    navigate(formatLink(["audit"], { ...texts, since: toMilliseconds(from), until: toMilliseconds(to) }));
  return (
    <Form submit="Filter" class="filter" version={query.toString()} onSubmit={select}>
      <Field name="caller" label="Caller" placeholder="owner" value={caller} />
      <Field name="method" label="Method or skill" placeholder="MailSkill" value={method} />
      <Field name="decision" label="Decision" choices={DECISIONS} value={decision} />
      <Field name="since" label="From" type="datetime-local" value={toLocalTime(since)} />
      <Field name="until" label="Until" type="datetime-local" value={toLocalTime(until)} />
    </Form>
  );
}

/** The check of the chain, and the downloads of the records that the filter selects. */
function AuditTools({ parameters }: { readonly parameters: string }) {
  const check = useSignal<AuditCheck | undefined>(undefined);
  const isBusy = useSignal(false);
  const verify = async (): Promise<void> => {
    isBusy.value = true;
    try {
      check.value = await request<AuditCheck>("/audit/verify", { method: "POST", body: {} });
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <>
      <div class="row">
        <Button label="Verify" disabled={isBusy.value} onClick={verify} />
        <a class="button" href={createAddress("jsonl", parameters)} download>
          Export JSON lines
        </a>
        <a class="button" href={createAddress("csv", parameters)} download>
          Export CSV
        </a>
      </div>
      {check.value !== undefined && <CheckNotice check={check.value} />}
    </>
  );
}

function createAddress(format: "csv" | "jsonl", parameters: string): string {
  const query = new URLSearchParams(parameters);
  query.set("format", format);
  return `/console/api/audit/export?${query}`;
}

function CheckNotice({ check }: { readonly check: AuditCheck }) {
  if (check.kind === "broken")
    return (
      <div class="notice notice-error" role="alert">
        <Text in="p" class="notice-title" value={check.says} />
        <p>
          The records before it are as they were written.{" "}
          <a href={formatLink(["audit", String(check.seq)])}>Open record {formatCount(check.seq)}</a>
        </p>
      </div>
    );
  return (
    <p class="notice" role="status">
      {check.records === 0
        ? "The audit log has no records."
        : `All is well: ${countNoun(check.records, "record")}, each in its place, and ${countNoun(check.heads, "signed head")}.`}
    </p>
  );
}
