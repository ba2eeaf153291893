import { openSync, writeSync } from "node:fs";

import type { AgentEvent } from "../../../agent/index.ts";
import { getMessage } from "../../../errors.ts";
import { jsonText } from "../text/output.ts";
import { UsageError } from "../usage-error.ts";
import { loadAgentModule } from "./open-agent.ts";

/** Opens a transcript, and returns the function that adds an event to it. */
export async function openRecord(file: string | undefined): Promise<(event: AgentEvent) => void> {
  if (file === undefined) return () => {};
  const { formatTranscriptHeader } = await loadAgentModule();
  const descriptor = openNewFile(file);
  writeSync(descriptor, formatTranscriptHeader());
  return (event) => void writeSync(descriptor, `${jsonText(event, 0)}\n`);
}

/** A transcript holds what methods returned: only its owner may read it. */
function openNewFile(file: string): number {
  try {
    return openSync(file, "w", 0o600);
  } catch (thrown) {
    throw new UsageError(`Cannot write ${JSON.stringify(file)}: ${getMessage(thrown)}`);
  }
}
