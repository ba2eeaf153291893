import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { AuditItem } from "../../../../../shared/audit/items.ts";
import type { AuditPage } from "../../../admin-messages.ts";
import type { ProblemDetails } from "../../../messages.ts";
import { request, toProblem } from "../../api.ts";
import { onEvent, onStale } from "../../state/events.ts";

/** The records that were loaded, the newest first. */
interface AuditRows {
  /** `undefined` until the first answer. */
  readonly rows: Signal<readonly AuditItem[] | undefined>;
  readonly hasMore: Signal<boolean>;
  readonly isStored: Signal<boolean>;
  readonly isLoading: Signal<boolean>;
  readonly error: Signal<ProblemDetails | undefined>;
  readonly loadMore: () => void;
  readonly reload: () => void;
}

const PART_ROWS = 200;

/** Milliseconds between two requests that events cause. */
const EVENT_PAUSE_MS = 400;

/** Loads records by a filter in parts. New ones are added when calls end. */
export function useAuditRows(parameters: string): AuditRows {
  const rows = useSignal<readonly AuditItem[] | undefined>(undefined);
  const next = useSignal<number | null>(null);
  const hasMore = useSignal(false);
  const isStored = useSignal(true);
  const isLoading = useSignal(false);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const load = useRef((_before: number | null): void => {});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const loadPart = async (before: number | null): Promise<void> => {
      isLoading.value = true;
      const query = new URLSearchParams(parameters);
      query.set("limit", String(PART_ROWS));
      if (before !== null) query.set("before", String(before));
      try {
        const page = await request<AuditPage>(`/audit?${query}`, { signal });
        const oldRows = rows.value ?? [];
        const merged = before === null ? mergeNewest(page.rows, oldRows) : [...oldRows, ...page.rows];
        if (before !== null || merged === page.rows) {
          next.value = page.next;
          hasMore.value = page.next !== null;
        }
        rows.value = merged;
        isStored.value = page.isStored;
        error.value = undefined;
      } catch (thrown) {
        if (!signal.aborted) error.value = toProblem(thrown);
      }
      isLoading.value = false;
    };
    load.current = (before) => void loadPart(before);
    const schedule = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void loadPart(null);
      }, EVENT_PAUSE_MS);
    };
    rows.value = undefined;
    void loadPart(null);
    const stops = [onEvent("call", schedule), onStale(schedule)];
    return () => {
      controller.abort();
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [parameters]);
  return {
    rows,
    hasMore,
    isStored,
    isLoading,
    error,
    loadMore: () => load.current(next.value),
    reload: () => load.current(null),
  };
}

/** Puts new records before those that are loaded. Without an overlap, only the new ones remain, so that there is no gap. */
function mergeNewest(newest: readonly AuditItem[], oldRows: readonly AuditItem[]): readonly AuditItem[] {
  const oldest = newest.at(-1)?.seq ?? 0;
  const first = oldRows[0]?.seq ?? 0;
  if (oldRows.length === 0 || oldest > first) return newest;
  return [...newest, ...oldRows.filter(({ seq }) => seq < oldest)];
}
