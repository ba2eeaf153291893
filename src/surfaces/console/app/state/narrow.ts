import { useEffect, useRef, useState } from "preact/hooks";

/** True for a window of less than 640 pixels; follows its changes. */
export function useIsNarrow(): boolean {
  const query = useRef(matchMedia("(width < 640px)"));
  const [isNarrow, setNarrow] = useState(query.current.matches);
  useEffect(() => {
    const onChange = ({ matches }: MediaQueryListEvent): void => setNarrow(matches);
    const { current } = query;
    current.addEventListener("change", onChange);
    return () => current.removeEventListener("change", onChange);
  }, []);
  return isNarrow;
}
