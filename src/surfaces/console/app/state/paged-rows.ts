import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { ConsoleEventName, ProblemDetails } from "../../messages.ts";
import type { RowPage } from "../../run-messages.ts";
import { request, toProblem } from "../api.ts";
import { onEvent, onStale } from "./events.ts";

/** The rows of a long list of the server, loaded as far as a table shows them. */
export interface PagedRows<Row> {
  /** `undefined` until the first answer. */
  readonly total: Signal<number | undefined>;
  readonly error: Signal<ProblemDetails | undefined>;
  readonly getRow: (index: number) => Row | undefined;
  /** Loads the rows from `first` up to `last`, which is not included. */
  readonly view: (first: number, last: number) => void;
  readonly reload: () => void;
}

const PAGE_ROWS = 100;

/** Pages that stay loaded. */
const MAX_PAGES = 20;

/** Milliseconds between two requests that events cause. */
const EVENT_PAUSE_MS = 400;

/** Follows a list at a path below `/console/api` that answers with a `RowPage`, and loads it again after the events. */
export function usePagedRows<Row>(path: string, reloadOn: readonly ConsoleEventName[]): PagedRows<Row> {
  const total = useSignal<number | undefined>(undefined);
  const error = useSignal<ProblemDetails | undefined>(undefined);
  const version = useSignal(0);
  const loader = useRef<PageLoader<Row>>(undefined);
  useEffect(() => {
    const current = new PageLoader<Row>(path, {
      onPage(page) {
        total.value = page.total;
        error.value = undefined;
        version.value++;
      },
      onError: (thrown) => (error.value = toProblem(thrown)),
    });
    loader.current = current;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        current.reload();
      }, EVENT_PAUSE_MS);
    };
    const stops = [...reloadOn.map((name) => onEvent(name, schedule)), onStale(schedule)];
    current.view(0, 1);
    return () => {
      clearTimeout(timer);
      current.close();
      for (const stop of stops) stop();
    };
  }, [path]);
  const view = useRef((first: number, last: number): void => loader.current?.view(first, last));
  return {
    total,
    error,
    getRow: (index) => (version.value >= 0 ? loader.current?.getRow(index) : undefined),
    view: view.current,
    reload: () => loader.current?.reload(),
  };
}

interface PageListener<Row> {
  readonly onPage: (page: RowPage<Row>) => void;
  readonly onError: (thrown: unknown) => void;
}

class PageLoader<Row> {
  readonly #path: string;
  readonly #listener: PageListener<Row>;
  readonly #controller = new AbortController();
  readonly #pages = new Map<number, readonly Row[]>();
  readonly #loading = new Set<number>();
  /** Pages that changed while they were loaded. */
  readonly #stale = new Set<number>();
  #visiblePages: readonly number[] = [0];

  constructor(path: string, listener: PageListener<Row>) {
    this.#path = path;
    this.#listener = listener;
  }

  getRow(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS];
  }

  view(first: number, last: number): void {
    const [from, to] = [Math.floor(first / PAGE_ROWS), Math.floor(Math.max(first, last - 1) / PAGE_ROWS)];
    this.#visiblePages = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    for (const page of this.#visiblePages) if (!this.#pages.has(page)) void this.#load(page);
  }

  /** Loads the visible pages again; the others when they are shown. */
  reload(): void {
    for (const page of this.#pages.keys()) if (!this.#visiblePages.includes(page)) this.#pages.delete(page);
    for (const page of this.#visiblePages) {
      if (this.#loading.has(page)) this.#stale.add(page);
      void this.#load(page);
    }
  }

  close(): void {
    this.#controller.abort();
  }

  async #load(page: number): Promise<void> {
    if (this.#loading.has(page)) return;
    this.#loading.add(page);
    const { signal } = this.#controller;
    try {
      const separator = this.#path.includes("?") ? "&" : "?";
      const range = `${separator}offset=${page * PAGE_ROWS}&limit=${PAGE_ROWS}`;
      const answer = await request<RowPage<Row>>(`${this.#path}${range}`, { signal });
      this.#pages.delete(page);
      this.#pages.set(page, answer.rows);
      this.#forgetOld();
      this.#listener.onPage(answer);
    } catch (thrown) {
      if (!signal.aborted) this.#listener.onError(thrown);
    } finally {
      this.#loading.delete(page);
      if (this.#stale.delete(page) && !signal.aborted) void this.#load(page);
    }
  }

  #forgetOld(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return;
      if (!this.#visiblePages.includes(page)) this.#pages.delete(page);
    }
  }
}
