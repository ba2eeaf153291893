import type { ComponentChildren, TargetedEvent } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** A column of a table. */
export interface TableColumn<Row> {
  readonly title: string;
  /** A track of a CSS grid: `2fr`, `120px`. */
  readonly width: string;
  readonly render: (row: Row) => ComponentChildren;
  readonly align?: "end";
  /** Its place in a narrow window: in the second line of the row, or none. It is in the first line by default. */
  readonly narrow?: "below" | "hidden";
  /** The name of its order; it sorts the table by a click on its title. */
  readonly order?: string;
}

/** The order of a table. */
export interface TableSorting {
  readonly order: string;
  /** The smallest value is first. */
  readonly isUpward: boolean;
  readonly onSort: (order: string, isUpward: boolean) => void;
}

export interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly getKey: (row: Row) => string;
  /** Opens a row by click or Enter. */
  readonly onOpen?: (row: Row) => void;
  readonly sorting?: TableSorting;
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
export function SparseTable<Row>(props: SparseTableProps<Row>) {
  const { label, columns, count, getRow, getKey, onOpen, onView, sorting } = props;
  const rowPx = useNarrowWindow() && columns.some(({ narrow }) => narrow === "below") ? TWO_LINES_PX : ROW_PX;
  const view = useTableView(count, rowPx);
  useEffect(() => onView?.(view.first, view.last), [view.first, view.last, onView]);
  const template = {
    "--columns": columns.map(({ width }) => `minmax(0, ${width})`).join(" "),
    "--row": `${rowPx}px`,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = getRow(view.active);
    if (event.key === "Enter" && row !== undefined && event.target === event.currentTarget) onOpen?.(row);
    else if (!view.moveByKey(event.key)) return;
    event.preventDefault();
  };
  return (
    <div class="table" role="grid" aria-label={label} aria-rowcount={count + 1} aria-readonly style={template}>
      <div class="table-scroller" ref={view.scroller} role="presentation" onScroll={view.onScroll}>
        <TableHead columns={columns} sorting={sorting} />
        <div class="table-space" role="rowgroup" style={{ height: `${view.height}px` }}>
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
                    <div
                      key={column.title}
                      role="gridcell"
                      class={getCellClass(column)}
                      style={{ "--flex": toFlex(column.width) }}
                    >
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

interface TableHeadProps<Row> {
  readonly columns: readonly TableColumn<Row>[];
  readonly sorting: TableSorting | undefined;
}

function TableHead<Row>({ columns, sorting }: TableHeadProps<Row>) {
  return (
    <div role="rowgroup" class="table-head">
      <div class="table-row" role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <div
            key={column.title}
            role="columnheader"
            class={getCellClass(column)}
            aria-sort={sorting?.order !== column.order ? undefined : sorting?.isUpward ? "ascending" : "descending"}
          >
            {sorting === undefined || column.order === undefined ? (
              column.title
            ) : (
              <SortButton title={column.title} order={column.order} sorting={sorting} />
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

interface SortButtonProps {
  readonly title: string;
  readonly order: string;
  readonly sorting: TableSorting;
}

/** Sorts by a column, the largest value first, and the other way round at the second click. */
function SortButton({ title, order, sorting: { order: current, isUpward, onSort } }: SortButtonProps) {
  const isCurrent = order === current;
  return (
    <button type="button" class="sort-button" onClick={() => onSort(order, isCurrent && !isUpward)}>
      {title}
      <span aria-hidden="true">{isCurrent ? (isUpward ? " ↑" : " ↓") : ""}</span>
    </button>
  );
}

function getCellClass({ align, narrow }: Pick<TableColumn<never>, "align" | "narrow">): string {
  return `clip${align === "end" ? " cell-end" : ""}${narrow === undefined ? "" : ` cell-${narrow}`}`;
}

/** The width of a cell in the first line of a narrow row, which is a flexible box. */
function toFlex(width: string): string {
  return width.endsWith("fr") ? `${width.slice(0, -2)} 1 0` : `0 0 ${width}`;
}

/** The rows of a narrow window have two lines. */
const NARROW = globalThis.matchMedia("(width < 640px)");

export function useNarrowWindow(): boolean {
  const [isNarrow, setNarrow] = useState(NARROW.matches);
  useEffect(() => {
    const update = (): void => setNarrow(NARROW.matches);
    NARROW.addEventListener("change", update);
    return () => NARROW.removeEventListener("change", update);
  }, []);
  return isNarrow;
}

const ROW_PX = 40;
const TWO_LINES_PX = 60;

/** Rows outside of the visible part that exist, so that scrolling shows no gap. */
const SPARE_ROWS = 8;

/** Browsers limit the height of an element; a longer list scrolls in proportion. */
const MAX_HEIGHT_PX = 8_000_000;

interface ScrollState {
  readonly top: number;
  readonly height: number;
}

/** Follows the scroll position and the focus of a table with `count` rows. */
function useTableView(count: number, rowPx: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<ScrollState>({ top: 0, height: 600 });
  const [wantedRow, setActive] = useState(0);
  const shouldFocus = useRef(false);
  const active = Math.min(wantedRow, Math.max(0, count - 1));
  const height = Math.min(count * rowPx, MAX_HEIGHT_PX);
  const measure = (element: HTMLElement): void => setView({ top: element.scrollTop, height: getHeight(element) });

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => measure(element));
    observer.observe(element);
    measure(element);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    if (!shouldFocus.current) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[aria-rowindex="${active + 2}"]`);
    if (row == null) return;
    shouldFocus.current = false;
    row.focus({ preventScroll: true });
  });

  return {
    scroller,
    onScroll: ({ currentTarget }: TargetedEvent<HTMLDivElement>): void => measure(currentTarget),
    ...findVisible(count, view, { height, rowPx }),
    height,
    active,
    setActive,
    /** Moves the focus; returns false for a key that does not move it. */
    moveByKey(key: string): boolean {
      const target = findTarget(key, { active, count, page: Math.max(1, Math.floor(view.height / rowPx) - 1) });
      const element = scroller.current;
      if (target === undefined || element === null) return false;
      setActive(target);
      shouldFocus.current = true;
      scrollTo(element, target * (height / count), rowPx);
      measure(element);
      return true;
    },
  };
}

interface MoveFacts {
  readonly active: number;
  readonly count: number;
  /** Rows of a page. */
  readonly page: number;
}

function findTarget(key: string, { active, count, page }: MoveFacts): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: active + 1,
    ArrowUp: active - 1,
    PageDown: active + page,
    PageUp: active - page,
    Home: 0,
    End: count - 1,
  };
  const target = Object.hasOwn(targets, key) ? targets[key] : undefined;
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

/** Returns the height of the part that shows rows; the head of the table is above it. */
function getHeight(scroller: HTMLElement): number {
  const head = scroller.firstElementChild;
  return scroller.clientHeight - (head instanceof HTMLElement ? head.offsetHeight : 0);
}

/** Scrolls as little as shows the row at `top`. */
function scrollTo(element: HTMLElement, top: number, rowPx: number): void {
  const height = getHeight(element);
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + rowPx > element.scrollTop + height) element.scrollTop = top + rowPx - height;
}

function findVisible(
  count: number,
  { top, height }: ScrollState,
  all: { readonly height: number; readonly rowPx: number },
) {
  const { rowPx } = all;
  const scale = count === 0 ? 1 : all.height / (count * rowPx);
  const start = Math.floor(top / scale / rowPx);
  const first = Math.max(0, start - SPARE_ROWS);
  const last = Math.min(count, start + Math.ceil(height / rowPx) + SPARE_ROWS);
  return { first, last, offset: Math.max(0, top - (top / scale - first * rowPx)) };
}
