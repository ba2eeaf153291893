import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";

import { useTableView } from "./table-view.ts";

/** A column of a table. */
export interface TableColumn<Row> {
  readonly title: string;
  /** A track of a CSS grid: `2fr`, `120px`. */
  readonly width: string;
  readonly render: (row: Row) => ComponentChildren;
  readonly align?: "end";
  /** A narrow window has no place for it. */
  readonly isWideOnly?: true;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly getKey: (row: Row) => string;
  /** Opens a row by click or Enter. */
  readonly onOpen?: (row: Row) => void;
}

/** A table that creates only its visible rows. Arrow keys, Page Up, Page Down, Home and End move between them. */
export function VirtualTable<Row>({ rows, ...props }: TableProps<Row> & { readonly rows: readonly Row[] }) {
  return <SparseTable {...props} count={rows.length} getRow={(index) => rows[index]} />;
}

interface SparseTableProps<Row> extends TableProps<Row> {
  readonly count: number;
  /** Returns `undefined` for a row that is not loaded. */
  readonly getRow: (index: number) => Row | undefined;
  /** Reports the rows that exist in the page: the first, and the one after the last. */
  readonly onView?: (first: number, last: number) => void;
}

/** A `VirtualTable` whose rows may be loaded later. */
export function SparseTable<Row>({ label, columns, count, getRow, getKey, onOpen, onView }: SparseTableProps<Row>) {
  const view = useTableView(count);
  useEffect(() => onView?.(view.first, view.last), [view.first, view.last, onView]);
  const template = {
    "--columns": formatTracks(columns),
    "--narrow": formatTracks(columns.filter((each) => !each.isWideOnly)),
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = getRow(view.active);
    if (event.key === "Enter" && row !== undefined && event.target === event.currentTarget) onOpen?.(row);
    else if (!view.moveByKey(event.key)) return;
    event.preventDefault();
  };
  return (
    <div class="table" role="grid" aria-label={label} aria-rowcount={count + 1} aria-readonly style={template}>
      <TableHead columns={columns} />
      <div class="table-scroller" ref={view.scroller} role="rowgroup" onScroll={view.onScroll}>
        <div class="table-space" role="presentation" style={{ height: `${view.height}px` }}>
          <div role="presentation" style={{ transform: `translateY(${view.offset}px)` }}>
            {Array.from({ length: view.last - view.first }, (_, at) => ({ at, row: getRow(view.first + at) })).map(
              ({ row, at }) => (
                <div
                  key={row === undefined || onView !== undefined ? view.first + at : getKey(row)}
                  aria-busy={row === undefined ? true : undefined}
                  class={onOpen === undefined ? "table-row" : "table-row table-row-open"}
                  role="row"
                  aria-rowindex={view.first + at + 2}
                  tabIndex={view.first + at === view.active ? 0 : -1}
                  onKeyDown={onKeyDown}
                  onFocus={() => view.setActive(view.first + at)}
                  onClick={() => row !== undefined && onOpen?.(row)}
                >
                  {columns.map((column) => (
                    <div key={column.title} role="gridcell" class={getCellClass(column)}>
                      {row === undefined ? <span class="skeleton-line" /> : column.render(row)}
                    </div>
                  ))}
                </div>
              ),
            )}
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
        {columns.map((column) => (
          <div key={column.title} role="columnheader" class={getCellClass(column)}>
            {column.title}
          </div>
        ))}
      </div>
    </div>
  );
}

function getCellClass({ align, isWideOnly }: Pick<TableColumn<never>, "align" | "isWideOnly">): string {
  return `clip${align === "end" ? " cell-end" : ""}${isWideOnly ? " wide-only" : ""}`;
}

function formatTracks(columns: readonly Pick<TableColumn<never>, "width">[]): string {
  return columns.map(({ width }) => `minmax(0, ${width})`).join(" ");
}
