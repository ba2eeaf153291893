import { useState } from "preact/hooks";

import { Button } from "../elements.tsx";
import { JsonTree } from "../json-tree.tsx";
import { Code, Text } from "../text.tsx";
import { type TableColumn, VirtualTable } from "../virtual-table.tsx";

interface TableRow {
  readonly index: number;
  readonly cells: Readonly<Record<string, unknown>>;
}

const MAX_COLUMNS = 12;

/** Rows that are read for the names of columns. */
const MAX_READ_ROWS = 100;

interface ValueViewProps {
  readonly value: unknown;
  /** Its type as TypeScript, where it is known. */
  readonly type?: string | undefined;
}

/** A result as a tree or text, or as a table if it is a list of objects, with its type. */
export function ValueView({ value, type = "" }: ValueViewProps) {
  if (value === undefined) return <p class="muted">The program returned nothing</p>;
  return (
    <>
      {typeof value === "string" ? <Code value={value} /> : <FormedValue value={value} />}
      {type !== "" && (
        <p class="muted small">
          Type <Text in="code" value={type} limit={300} />
        </p>
      )}
    </>
  );
}

function FormedValue({ value }: { readonly value: unknown }) {
  const rows = readRows(value);
  const [form, setForm] = useState(rows === undefined ? "Tree" : "Table");
  const forms = rows === undefined ? ["Tree", "Text"] : ["Table", "Tree", "Text"];
  return (
    <>
      {typeof value === "object" && value !== null && (
        <div class="row" role="group" aria-label="Form of the result">
          {forms.map((each) => (
            <Button key={each} label={each} tone="small" isPressed={form === each} onClick={() => setForm(each)} />
          ))}
        </div>
      )}
      {form === "Text" ? (
        <Code label="Result as JSON" value={JSON.stringify(value, null, 2)} />
      ) : form === "Table" && rows !== undefined ? (
        <ValueTable rows={rows} />
      ) : (
        <JsonTree value={value} openLevels={2} />
      )}
    </>
  );
}

function ValueTable({ rows }: { readonly rows: readonly TableRow[] }) {
  const names = [...new Set(rows.slice(0, MAX_READ_ROWS).flatMap(({ cells }) => Object.keys(cells)))];
  const columns = names.slice(0, MAX_COLUMNS).map((name): TableColumn<TableRow> => ({
    title: name,
    width: "1fr",
    render: ({ cells }) => <Text value={formatCell(cells[name])} limit={300} />,
  }));
  return (
    <div class="value-table">
      <VirtualTable label="Result" columns={columns} rows={rows} getKey={({ index }) => String(index)} />
    </div>
  );
}

/** Returns `undefined` for a value that is not a list of objects. */
function readRows(value: unknown): readonly TableRow[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const isList = value.every((each) => typeof each === "object" && each !== null && !Array.isArray(each));
  return isList ? value.map((cells, index) => ({ index, cells: cells as TableRow["cells"] })) : undefined;
}

function formatCell(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
