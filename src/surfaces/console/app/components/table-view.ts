import type { RefObject, TargetedEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The part of a long table that exists, and the row that has the focus. */
export interface TableView {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly onScroll: (event: TargetedEvent<HTMLDivElement>) => void;
  /** The first row that exists, and the one after the last. */
  readonly first: number;
  readonly last: number;
  /** Pixels from the top of the list to the first row. */
  readonly offset: number;
  /** Height of the list in pixels. */
  readonly height: number;
  readonly active: number;
  readonly setActive: (row: number) => void;
  /** Moves the focus; returns false for a key that does not move it. */
  readonly moveByKey: (key: string) => boolean;
}

const ROW_PX = 40;

/** Rows outside of the visible part that exist, so that scrolling shows no gap. */
const SPARE_ROWS = 8;

/** Browsers limit the height of an element; a longer list scrolls in proportion. */
const MAX_HEIGHT_PX = 8_000_000;

interface ScrollState {
  readonly top: number;
  readonly height: number;
}

/** Follows the scroll position and the focus of a table with `count` rows. */
export function useTableView(count: number): TableView {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<ScrollState>({ top: 0, height: 600 });
  const [wantedRow, setActive] = useState(0);
  const shouldFocus = useRef(false);
  const active = Math.min(wantedRow, Math.max(0, count - 1));
  const height = Math.min(count * ROW_PX, MAX_HEIGHT_PX);
  const measure = (element: HTMLElement): void => setView({ top: element.scrollTop, height: element.clientHeight });

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
    onScroll: ({ currentTarget }) => measure(currentTarget),
    ...findVisible(count, view, height),
    height,
    active,
    setActive,
    moveByKey(key) {
      const target = findTarget(key, { active, count, page: Math.max(1, Math.floor(view.height / ROW_PX) - 1) });
      const element = scroller.current;
      if (target === undefined || element === null) return false;
      setActive(target);
      shouldFocus.current = true;
      scrollTo(element, target * ROW_PX * (height / (count * ROW_PX)));
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

/** Scrolls as little as shows the row at `top`. */
function scrollTo(element: HTMLElement, top: number): void {
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + ROW_PX > element.scrollTop + element.clientHeight)
    element.scrollTop = top + ROW_PX - element.clientHeight;
}

function findVisible(count: number, { top, height }: ScrollState, whole: number) {
  const scale = count === 0 ? 1 : whole / (count * ROW_PX);
  const start = Math.floor(top / scale / ROW_PX);
  const first = Math.max(0, start - SPARE_ROWS);
  const last = Math.min(count, start + Math.ceil(height / ROW_PX) + SPARE_ROWS);
  return { first, last, offset: Math.max(0, top - (top / scale - first * ROW_PX)) };
}
