import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

import type { ProblemDetails } from "../../messages.ts";
import { toProblem } from "../api.ts";
import { ErrorNotice, Skeleton } from "../components/elements.tsx";
import type { PageProps } from "./index.ts";

/** Creates a page, or a part of one, whose script is loaded when it is first shown. */
export function createLazyPage<Props extends object = PageProps>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function LazyPage(props: Props) {
    const [error, setError] = useState<ProblemDetails | undefined>(undefined);
    const [, setReady] = useState(loaded !== undefined);
    const start = (): void => {
      setError(undefined);
      load().then(
        (component) => {
          loaded = component;
          setReady(true);
        },
        (thrown: unknown) => setError(toProblem(thrown)),
      );
    };
    useEffect(() => {
      if (loaded === undefined) start();
    }, []);
    if (error !== undefined) return <ErrorNotice error={error} onRetry={start} />;
    const Component = loaded;
    return Component === undefined ? <Skeleton lines={8} /> : <Component {...props} />;
  };
}
