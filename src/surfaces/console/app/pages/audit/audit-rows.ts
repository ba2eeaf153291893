import { type Signal, useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";

import type { AuditPage, ProblemDetails } from "../../../messages.ts";
import { request, toProblem } from "../../api.ts";
import { useReload } from "../../state/reload.ts";

/** The records that were loaded, the newest first. */
interface AuditRows {
  /** `undefined` until the first answer. `next` is the number before which older records begin. */
  readonly page: Signal<AuditPage | undefined>;
  readonly isLoading: Signal<boolean>;
  readonly error: Signal<ProblemDetails | undefined>;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

const PART_ROWS = 200;

/** Loads records by a filter in parts. New ones are added when calls end. */
export function useAuditRows(parameters: string): AuditRows {
  const page = useSignal<AuditPage | undefined>(undefined);
  const isLoading = useSignal(false);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const loadMore = useRef((): void => {});
  const reload = useReload(parameters, ["call"], (signal) => {
    const load = async (before: number | null): Promise<void> => {
      isLoading.value = true;
      const query = new URLSearchParams(parameters);
      query.set("limit", String(PART_ROWS));
      if (before !== null) query.set("before", String(before));
      try {
        const part = await request<AuditPage>(`/audit?${query}`, { signal });
        page.value = before === null ? mergeNewest(part, page.value) : addOlder(page.value, part);
        error.value = undefined;
      } catch (thrown) {
        if (signal.aborted) return;
        error.value = toProblem(thrown);
      }
      isLoading.value = false;
    };
    page.value = undefined;
    loadMore.current = () => void load(page.value?.next ?? null);
    return () => void load(null);
  });
  return { page, isLoading, error, loadMore: () => loadMore.current(), reload };
}

function addOlder(loaded: AuditPage | undefined, older: AuditPage): AuditPage {
  return { ...older, rows: [...(loaded?.rows ?? []), ...older.rows] };
}

/** Puts new records before those that are loaded. Without an overlap, only the new ones remain, so that there is no gap. */
function mergeNewest(newest: AuditPage, loaded: AuditPage | undefined): AuditPage {
  const oldest = newest.rows.at(-1)?.seq ?? 0;
  const first = loaded?.rows[0]?.seq ?? 0;
  if (loaded === undefined || loaded.rows.length === 0 || oldest > first) return newest;
  return { ...loaded, rows: [...newest.rows, ...loaded.rows.filter(({ seq }) => seq < oldest)] };
}
