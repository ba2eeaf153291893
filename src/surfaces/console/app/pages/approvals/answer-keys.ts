import { useEffect, useRef } from "preact/hooks";

/** Calls a function at a letter that is typed outside of fields and dialogs. */
export function useAnswerKeys(keys: Readonly<Record<string, () => void>>): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, repeat, target } = event;
      if (ctrlKey || metaKey || altKey || repeat || isField(target)) return;
      const run = Object.hasOwn(latest.current, key.toLowerCase()) ? latest.current[key.toLowerCase()] : undefined;
      if (run === undefined || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      run();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable='true']") !== null;
}
