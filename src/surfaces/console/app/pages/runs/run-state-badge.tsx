import type { RecordedRunState } from "../../../run-messages.ts";
import { StatusBadge } from "../../components/status-badge.tsx";

const STATE_TONES = {
  running: "busy",
  waiting: "warn",
  completed: "ok",
  failed: "bad",
  cancelled: "off",
  unknown: "bad",
} as const satisfies Record<RecordedRunState, Parameters<typeof StatusBadge>[0]["tone"]>;

/** The state of a recorded run. */
export function RunStateBadge({ state }: { readonly state: RecordedRunState }) {
  return <StatusBadge tone={STATE_TONES[state]} label={state} />;
}
