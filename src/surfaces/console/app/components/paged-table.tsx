import type { ComponentChildren } from "preact";

import type { ConsoleEventName } from "../../messages.ts";
import { usePagedRows } from "../state/paged-rows.ts";
import { ErrorNotice } from "./error-notice.tsx";
import { Skeleton } from "./skeleton.tsx";
import { formatCount } from "./text.tsx";
import { SparseTable, type TableColumn } from "./virtual-table.tsx";

interface PagedTableProps<Row> {
  readonly label: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly getKey: (row: Row) => string;
  readonly onOpen?: (row: Row) => void;
  /** A path below `/console/api` that answers with a `RowPage`. */
  readonly path: string;
  /** Events after which the rows are loaded again. */
  readonly reloadOn: readonly ConsoleEventName[];
  /** The noun of the rows, singular and plural. */
  readonly nouns: readonly [singular: string, plural: string];
  /** Stands in place of the table if it has no rows. */
  readonly children: ComponentChildren;
}

/** A long list of the server, of which only the visible part is loaded. */
export function PagedTable<Row>({ path, reloadOn, nouns, children, ...table }: PagedTableProps<Row>) {
  const { total, error, getRow, view, reload } = usePagedRows<Row>(path, reloadOn);
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (total.value === undefined) return <Skeleton lines={12} />;
  if (total.value === 0) return <>{children}</>;
  return (
    <>
      <p class="muted table-count" role="status">
        {formatCount(total.value)} {total.value === 1 ? nouns[0] : nouns[1]}
      </p>
      <SparseTable {...table} count={total.value} getRow={getRow} onView={view} />
    </>
  );
}
