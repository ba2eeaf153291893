import type { ServerState } from "../../messages.ts";
import { StatusBadge } from "./status-badge.tsx";

const TONES = {
  connecting: "busy",
  connected: "ok",
  disconnected: "warn",
  error: "bad",
  disabled: "off",
} as const satisfies Record<ServerState, Parameters<typeof StatusBadge>[0]["tone"]>;

/** The state of an MCP server. */
export function ServerBadge({ status }: { readonly status: ServerState }) {
  return <StatusBadge tone={TONES[status]} label={status} />;
}
