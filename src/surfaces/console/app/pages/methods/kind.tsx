import type { MethodSummary } from "../../../messages.ts";
import { StatusBadge } from "../../components/elements.tsx";

/** Says whether a call of a method reads, writes or deletes. */
export function Kind({ method: { readOnly, destructive, callable } }: { readonly method: MethodSummary }) {
  if (!callable) return <StatusBadge label="read only" />;
  if (destructive) return <StatusBadge tone="bad" label="destructive" />;
  return <StatusBadge tone={readOnly ? "ok" : "warn"} label={readOnly ? "reads" : "writes"} />;
}
