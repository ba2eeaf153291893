import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

import type { ConsoleEventName, ProblemDetails } from "../../messages.ts";
import type { RowPage } from "../../program-messages.ts";
import { request, toProblem } from "../api.ts";
import { useReload } from "../state/reload.ts";
import { ErrorNotice, Skeleton } from "./elements.tsx";
import { countNoun } from "./text.tsx";
import { SparseTable, type TableProps } from "./virtual-table.tsx";

interface PagedTableProps<Row> extends TableProps<Row> {
  /** A path below `/console/api` that answers with a `RowPage`. */
  readonly path: string;
  /** Events after which the rows are loaded again. */
  readonly reloadOn: readonly ConsoleEventName[];
  /** The noun of a row. */
  readonly noun: string;
  /** Stands in place of the table if it has no rows. */
  readonly children: ComponentChildren;
}

const PAGE_ROWS = 100;

/** Pages that stay loaded. */
const MAX_PAGES = 20;

/** A long list of the server, of which only the visible part is loaded. */
export function PagedTable<Row>({ path, reloadOn, noun, children, ...table }: PagedTableProps<Row>) {
  const total = useSignal<number | undefined>(undefined);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const pages = useSignal<ReadonlyMap<number, readonly Row[]>>(new Map());
  const visible = useRef<readonly number[]>([0]);
  const loadMissing = useRef((): void => {});
  const reload = useReload(path, reloadOn, (signal) => {
    const loading = new Set<number>();
    /** Pages that changed while they were loaded. */
    const stale = new Set<number>();
    const load = async (page: number): Promise<void> => {
      if (loading.has(page)) return void stale.add(page);
      loading.add(page);
      try {
        const range = `offset=${page * PAGE_ROWS}&limit=${PAGE_ROWS}`;
        const answer = await request<RowPage<Row>>(`${path}${path.includes("?") ? "&" : "?"}${range}`, { signal });
        pages.value = addPage(pages.value, [page, answer.rows], visible.current);
        total.value = answer.total;
        error.value = undefined;
      } catch (thrown) {
        if (!signal.aborted) error.value = toProblem(thrown);
      }
      loading.delete(page);
      if (stale.delete(page) && !signal.aborted) void load(page);
    };
    pages.value = new Map();
    visible.current = [0];
    loadMissing.current = () => {
      for (const page of visible.current) if (!pages.value.has(page) && !loading.has(page)) void load(page);
    };
    return () => {
      pages.value = new Map([...pages.value].filter(([page]) => visible.current.includes(page)));
      for (const page of visible.current) void load(page);
    };
  });
  const view = useRef((first: number, last: number): void => {
    const [from, to] = [Math.floor(first / PAGE_ROWS), Math.floor(Math.max(first, last - 1) / PAGE_ROWS)];
    visible.current = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    loadMissing.current();
  });
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (total.value === undefined) return <Skeleton lines={12} />;
  if (total.value === 0) return <>{children}</>;
  const getRow = (index: number): Row | undefined =>
    pages.value.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS];
  return (
    <>
      <p class="muted table-count" role="status">
        {countNoun(total.value, noun)}
      </p>
      <SparseTable {...table} count={total.value} getRow={getRow} onView={view.current} />
    </>
  );
}

type LoadedPage<Row> = readonly [number: number, rows: readonly Row[]];

/** Forgets the pages that were loaded first, unless they are visible. */
function addPage<Row>(pages: ReadonlyMap<number, readonly Row[]>, added: LoadedPage<Row>, visible: readonly number[]) {
  const others = [...pages].filter(([page]) => page !== added[0]);
  const spare = Math.max(0, others.length + 1 - MAX_PAGES);
  const forgotten = new Set(others.filter(([page]) => !visible.includes(page)).slice(0, spare));
  return new Map([...others.filter((each) => !forgotten.has(each)), added]);
}
