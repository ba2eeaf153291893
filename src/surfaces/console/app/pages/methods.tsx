import { useSignal } from "@preact/signals";

import type { MethodDescription, MethodSummary } from "../../messages.ts";
import { Dialog } from "../components/dialog.tsx";
import { EmptyState } from "../components/empty-state.tsx";
import { ErrorNotice } from "../components/error-notice.tsx";
import { Skeleton } from "../components/skeleton.tsx";
import { StatusBadge } from "../components/status-badge.tsx";
import { formatCount, Text } from "../components/text.tsx";
import { type TableColumn, VirtualTable } from "../components/virtual-table.tsx";
import { formatLink, navigate } from "../router.ts";
import { useResource } from "../state/resource.ts";
import type { PageProps } from "./index.ts";

const COLUMNS: readonly TableColumn<MethodSummary>[] = [
  { title: "Method", width: "2fr", render: ({ path }) => <Text value={path} limit={200} /> },
  { title: "Description", width: "3fr", render: ({ summary }) => <Text value={summary} /> },
  { title: "Kind", width: "112px", render: (method) => <Kind method={method} /> },
];

/** Every method that the caller may see. */
export function MethodsPage({ segments: [path] }: PageProps) {
  const { data, error, reload } = useResource<{ readonly methods: readonly MethodSummary[] }>("/methods", {
    reloadOn: ["catalog"],
  });
  const filter = useSignal("");
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (data.value === undefined) return <Skeleton lines={12} />;
  const { methods } = data.value;
  const words = filter.value.toLowerCase().split(/\s+/);
  const rows =
    filter.value === ""
      ? methods
      : methods.filter(({ path, summary }) => {
          const text = `${path} ${summary}`.toLowerCase();
          return words.every((word) => text.includes(word));
        });
  return (
    <>
      <div class="toolbar">
        <label class="field field-inline">
          <span class="visually-hidden">Filter</span>
          <input
            type="search"
            placeholder="Filter by name or description"
            spellcheck={false}
            value={filter.value}
            onInput={({ currentTarget }) => (filter.value = currentTarget.value)}
          />
        </label>
        <span class="muted" role="status">
          {formatCount(rows.length)} of {formatCount(methods.length)} methods
        </span>
      </div>
      {rows.length === 0 ? (
        <EmptyState icon="methods" title={methods.length === 0 ? "No methods" : "No method matches the filter"}>
          {methods.length === 0 ? "Add a skill or an MCP server." : "Use fewer letters."}
        </EmptyState>
      ) : (
        <VirtualTable
          label="Methods"
          columns={COLUMNS}
          rows={rows}
          getKey={(method) => method.path}
          onOpen={(method) => navigate(formatLink(["methods", method.path]))}
        />
      )}
      {path !== undefined && <MethodDrawer path={path} />}
    </>
  );
}

function Kind({ method: { readOnly, destructive, callable } }: { readonly method: MethodSummary }) {
  if (!callable) return <StatusBadge tone="off" label="read only" />;
  if (destructive) return <StatusBadge tone="bad" label="destructive" />;
  return <StatusBadge tone={readOnly ? "ok" : "warn"} label={readOnly ? "reads" : "writes"} />;
}

function MethodDrawer({ path }: { readonly path: string }) {
  const { data, error, reload } = useResource<MethodDescription>(`/methods/${encodeURIComponent(path)}`, {
    reloadOn: ["catalog"],
  });
  return (
    <Dialog form="drawer" title={path} onClose={() => navigate(formatLink(["methods"]))}>
      {error.value !== undefined && <ErrorNotice error={error.value} onRetry={reload} />}
      {data.value === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <pre class="code">
          <Text value={data.value.text} />
        </pre>
      )}
    </Dialog>
  );
}
