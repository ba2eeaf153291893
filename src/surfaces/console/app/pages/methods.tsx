import { useState } from "preact/hooks";

import type { MethodDescription, MethodSummary } from "../../messages.ts";
import { Dialog } from "../components/dialog.tsx";
import { EmptyState, StatusBadge } from "../components/elements.tsx";
import { FilterField } from "../components/form.tsx";
import { Load } from "../components/load.tsx";
import { Code, countNoun, formatCount, Text } from "../components/text.tsx";
import { type TableColumn, VirtualTable } from "../components/virtual-table.tsx";
import { formatLink, navigate } from "../router.ts";
import type { PageProps } from "./index.ts";

const COLUMNS: readonly TableColumn<MethodSummary>[] = [
  { title: "Method", width: "2fr", render: ({ path }) => <Text value={path} limit={200} /> },
  { title: "Description", width: "3fr", narrow: "below", render: ({ summary }) => <Text value={summary} /> },
  { title: "Kind", width: "112px", render: (method) => <Kind method={method} /> },
];

/** Every method that the caller may see. */
export function MethodsPage({ segments: [path] }: PageProps) {
  return (
    <>
      <Load<{ readonly methods: readonly MethodSummary[] }> path="/methods" reloadOn={["catalog"]} lines={12}>
        {({ methods }) => <MethodTable methods={methods} />}
      </Load>
      {path !== undefined && (
        <Dialog form="drawer" title={path} onClose={() => navigate(formatLink(["methods"]))}>
          <Load<MethodDescription> path={`/methods/${encodeURIComponent(path)}`} reloadOn={["catalog"]}>
            {({ text }) => <Code value={text} />}
          </Load>
        </Dialog>
      )}
    </>
  );
}

function MethodTable({ methods }: { readonly methods: readonly MethodSummary[] }) {
  const [filter, setFilter] = useState("");
  const words = filter.toLowerCase().split(/\s+/);
  const rows = methods.filter(({ path, summary }) => {
    const text = `${path} ${summary}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  return (
    <>
      <div class="row">
        <FilterField label="Filter" placeholder="Filter by name or description" class="wide" onChange={setFilter} />
        <span class="muted" role="status">
          {formatCount(rows.length)} of {countNoun(methods.length, "method")}
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
    </>
  );
}

function Kind({ method: { readOnly, destructive, callable } }: { readonly method: MethodSummary }) {
  if (!callable) return <StatusBadge label="read only" />;
  if (destructive) return <StatusBadge tone="bad" label="destructive" />;
  return <StatusBadge tone={readOnly ? "ok" : "warn"} label={readOnly ? "reads" : "writes"} />;
}
