import type { SettingRow, SettingsReport } from "../../../messages.ts";
import { EmptyState, StatusBadge } from "../../components/elements.tsx";
import { FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text } from "../../components/text.tsx";
import { type TableColumn, VirtualTable } from "../../components/virtual-table.tsx";
import { formatLink, navigate } from "../../router.ts";
import type { PageProps } from "../index.ts";

const COLUMNS: readonly TableColumn<SettingRow>[] = [
  { title: "Setting", width: "3fr", render: ({ name }) => <Text in="code" value={name} limit={200} /> },
  { title: "Value", width: "2fr", narrow: "below", render: ({ value }) => <Value value={value} /> },
  { title: "From", width: "128px", narrow: "below", render: (row) => <Source row={row} /> },
  {
    title: "Meaning",
    width: "6fr",
    narrow: "hidden",
    render: ({ description }) => (
      <span title={description}>
        <Text value={description.replaceAll("`", "")} limit={300} />
      </span>
    ),
  },
];

function Value({ value }: Pick<SettingRow, "value">) {
  if (value === null) return <span class="muted">–</span>;
  return <Text in="code" value={typeof value === "string" ? value : JSON.stringify(value)} limit={300} />;
}

function Source({ row: { source, place: position } }: { readonly row: SettingRow }) {
  switch (source) {
    case "file":
      return <Text value={position === "" ? "settings" : position} limit={100} />;
    case "option":
      return <StatusBadge tone="busy" label="option" />;
    case "default":
      return <span class="muted">default</span>;
    case "unset":
      return <span class="muted">not set</span>;
  }
}

/** The settings that are in force, to read, each with the place that its value comes from. */
export function SettingsPage({ query }: PageProps) {
  const words = query.get("q") ?? "";
  return (
    <Load<SettingsReport> path="/settings" reloadOn={["catalog"]} lines={12}>
      {({ file, rows }) => (
        <>
          <p class="muted">
            {file === null ? (
              "The program that has started this server sets them."
            ) : (
              <>
                Change them in <Text in="code" value={file} limit={200} />, or with options of the command.
              </>
            )}
          </p>
          <FilterField
            label="Filter"
            placeholder="Filter by name or meaning"
            value={words}
            onChange={(text) => navigate(formatLink(["settings"], { q: text }), { replace: true })}
          />
          <Settings rows={filterRows(rows, words)} />
        </>
      )}
    </Load>
  );
}

function filterRows(rows: readonly SettingRow[], text: string): readonly SettingRow[] {
  const words = text.toLowerCase().split(/\s+/);
  return rows.filter(({ name, description, place: position }) => {
    const all = `${name} ${description} ${position}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

function Settings({ rows }: { readonly rows: readonly SettingRow[] }) {
  if (rows.length === 0)
    return (
      <EmptyState icon="settings" title="No setting matches the filter">
        Use fewer letters.
      </EmptyState>
    );
  return (
    <>
      <p class="muted" role="status">
        {countNoun(rows.length, "setting")}
      </p>
      <VirtualTable label="Settings" columns={COLUMNS} rows={rows} getKey={({ name }) => name} />
    </>
  );
}
