import { getMessage } from "../../errors.ts";

/** An error of Skillgate itself. Its answer reveals no details, so the log has to. */
interface Fault {
  readonly thrown: unknown;
  /** The id that the answer names, if it names one. */
  readonly traceId?: string | undefined;
}

type FaultListener = (level: "error", text: string) => void;

const listeners = new Set<FaultListener>();

/** Tells the runtimes of this process of a fault. */
export function reportFault({ thrown, traceId }: Fault): void {
  const cause = thrown instanceof Error ? (thrown.stack ?? getMessage(thrown)) : getMessage(thrown);
  const id = traceId === undefined ? "" : ` (trace ${traceId})`;
  for (const listen of listeners) listen("error", `Internal error of Skillgate${id}: ${cause}`);
}

/** Tells `listen` of each fault; returns the function that ends this. */
export function onFault(listen: FaultListener): () => void {
  listeners.add(listen);
  return () => void listeners.delete(listen);
}
