import { useState } from "preact/hooks";

import type { MethodSummary } from "../../../messages.ts";
import { EmptyState } from "../../components/elements.tsx";
import { FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, formatCount, Text } from "../../components/text.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";
import { Kind } from "./kind.tsx";
import { MethodPage } from "./method-page.tsx";

const COLUMNS: readonly TableColumn<MethodSummary>[] = [
  { title: "Method", width: "2fr", render: ({ path }) => <Text value={path} limit={200} /> },
  { title: "Description", width: "3fr", narrow: "below", render: ({ summary }) => <Text value={summary} /> },
  { title: "Kind", width: "112px", render: (method) => <Kind method={method} /> },
];

/** Every method that the caller may see, or one of them. */
export function MethodsPage({ info, segments: [path] }: PageProps) {
  if (path !== undefined) return <MethodPage key={path} path={path} info={info} />;
  return (
    <Load<{ readonly methods: readonly MethodSummary[] }> path="/methods" reloadOn={["catalog"]} lines={12}>
      {({ methods }) => <MethodTable methods={methods} />}
    </Load>
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
