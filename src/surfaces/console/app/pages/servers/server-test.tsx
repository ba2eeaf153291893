import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import type { ServerTestLine } from "../../../messages.ts";
import { requestLines } from "../../api.ts";
import { Button, ErrorNotice, StatusBadge } from "../../components/elements.tsx";
import { Code, countOf, formatDuration, Text } from "../../components/text.tsx";

/** Starts a second connection to a server, and shows its output as it comes. */
export function ServerTest({ name }: { readonly name: string }) {
  const lines = useSignal<readonly ServerTestLine[]>([]);
  const isRunning = useSignal(false);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const start = async (): Promise<void> => {
    controller.current = new AbortController();
    const { signal } = controller.current;
    lines.value = [];
    isRunning.value = true;
    try {
      await requestLines<ServerTestLine>(
        `/servers/${encodeURIComponent(name)}/test`,
        { method: "POST", body: {}, signal },
        (line) => (lines.value = [...lines.value, line]),
      );
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    } finally {
      isRunning.value = false;
    }
  };
  return (
    <section class="stack">
      <div class="row">
        <Button
          label={isRunning.value ? "Testing …" : "Test"}
          tone="primary"
          disabled={isRunning.value}
          onClick={start}
        />
        {isRunning.value && <Button label="Stop" onClick={() => controller.current?.abort()} />}
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
      return <Code value={line.text} />;
    case "problem":
      return <ErrorNotice error={line.problem} />;
    case "result":
      return (
        <p>
          <StatusBadge label={line.server.status} /> in {formatDuration(line.durationMs)},{" "}
          {countOf(line.tools.length, "tool")}{" "}
          {line.server.error !== null && <Text in="span" value={line.server.error} limit={2_000} />}
        </p>
      );
  }
}
