import { StatusBadge } from "../../components/status-badge.tsx";

const TONES: Readonly<Record<string, Parameters<typeof StatusBadge>[0]["tone"]>> = {
  allow: "ok",
  ask: "warn",
  deny: "bad",
};

/** A decision in its colour. */
export function DecisionBadge({ decision }: { readonly decision: string }) {
  return <StatusBadge tone={TONES[decision] ?? "off"} label={decision} />;
}
