import type { ComponentChildren } from "preact";
import { useTableView } from "./table-view.ts";

/** A column of a table. */
export interface TableColumn<Row> {
  readonly title: string;
  /** A track of a CSS grid: `2fr`, `120px`. */
  readonly width: string;
  readonly render: (row: Row) => ComponentChildren;
  readonly align?: "end";
}

interface VirtualTableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly getKey: (row: Row) => string;
  /** Opens a row by click or Enter. */
  readonly onOpen?: (row: Row) => void;
}

/** A table that creates only its visible rows. Arrow keys, Page Up, Page Down, Home and End move between them. */
export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, getKey, onOpen } = props;
  const view = useTableView(rows.length);
  const template = { "--columns": columns.map(({ width }) => `minmax(0, ${width})`).join(" ") };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[view.active];
    if (event.key === "Enter" && row !== undefined && event.target === event.currentTarget) onOpen?.(row);
    else if (!view.moveByKey(event.key)) return;
    event.preventDefault();
  };
  return (
    <div class="table" role="grid" aria-label={label} aria-rowcount={rows.length + 1} aria-readonly style={template}>
      <TableHead columns={columns} />
      <div class="table-scroller" ref={view.scroller} role="rowgroup" onScroll={view.onScroll}>
        <div class="table-space" role="presentation" style={{ height: `${view.height}px` }}>
          <div role="presentation" style={{ transform: `translateY(${view.offset}px)` }}>
            {rows.slice(view.first, view.last).map((row, at) => (
              <div
                key={getKey(row)}
                class={onOpen === undefined ? "table-row" : "table-row table-row-open"}
                role="row"
                aria-rowindex={view.first + at + 2}
                tabIndex={view.first + at === view.active ? 0 : -1}
                onKeyDown={onKeyDown}
                onFocus={() => view.setActive(view.first + at)}
                onClick={() => onOpen?.(row)}
              >
                <Cells row={row} columns={columns} />
              </div>
            ))}
          </div>
        </div>
      </div>
    </div>
  );
}

function TableHead<Row>({ columns }: { readonly columns: readonly TableColumn<Row>[] }) {
  return (
    <div role="rowgroup" class="table-head">
      <div class="table-row" role="row" aria-rowindex={1}>
        {columns.map(({ title, align }) => (
          <div key={title} role="columnheader" class={getCellClass(align)}>
            {title}
          </div>
        ))}
      </div>
    </div>
  );
}

function Cells<Row>({ row, columns }: { readonly row: Row; readonly columns: readonly TableColumn<Row>[] }) {
  return (
    <>
      {columns.map(({ title, align, render }) => (
        <div key={title} role="gridcell" class={getCellClass(align)}>
          {render(row)}
        </div>
      ))}
    </>
  );
}

function getCellClass(align: "end" | undefined): string {
  return align === "end" ? "cell cell-end" : "cell";
}
