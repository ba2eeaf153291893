import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { ServerTestLine } from "../../../messages.ts";
import { requestLines } from "../../api.ts";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { ServerBadge } from "../../components/server-badge.tsx";
import { Text } from "../../components/text.tsx";
import { formatDuration } from "../../components/time.tsx";
import { showError } from "../../state/toasts.ts";

/** Starts a second connection to a server, and shows its output as it comes. */
export function ServerTest({ name }: { readonly name: string }) {
  const lines = useSignal<readonly ServerTestLine[]>([]);
  const isRunning = useSignal(false);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const start = async (): Promise<void> => {
    controller.current = new AbortController();
    lines.value = [];
    isRunning.value = true;
    try {
      const options = { method: "POST", body: {}, signal: controller.current.signal } as const;
      await requestLines(`/servers/${encodeURIComponent(name)}/test`, options, (line) => {
        lines.value = [...lines.value, line as ServerTestLine];
      });
    } finally {
      isRunning.value = false;
    }
  };
  return (
    <section class="stack">
      <div class="actions">
        <button
          type="button"
          class="button button-primary"
          disabled={isRunning.value}
          onClick={() => void start().catch((error: unknown) => controller.current?.signal.aborted || showError(error))}
        >
          {isRunning.value ? "Testing …" : "Test"}
        </button>
        {isRunning.value && (
          <button type="button" class="button" onClick={() => controller.current?.abort()}>
            Stop
          </button>
        )}
      </div>
      <div role="log" aria-label="Output of the test" class="stack">
        {lines.value.map((line, index) => (
          <TestLine key={index} line={line} />
        ))}
      </div>
    </section>
  );
}

function TestLine({ line }: { readonly line: ServerTestLine }) {
  switch (line.kind) {
    case "log":
      return (
        <pre class="code">
          <Text value={line.text} />
        </pre>
      );
    case "problem":
      return <ErrorNotice error={line.problem} />;
    case "result":
      return (
        <p>
          <ServerBadge status={line.server.status} /> in {formatDuration(line.durationMs)}, {line.tools.length} tools
          {line.server.error !== null && (
            <>
              : <Text value={line.server.error} limit={2_000} />
            </>
          )}
        </p>
      );
  }
}
