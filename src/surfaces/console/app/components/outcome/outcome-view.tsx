import type { Outcome, Usage } from "../../../../../model/outcome.ts";
import { Text } from "../text.tsx";
import { formatDuration } from "../time.tsx";
import { ValueView } from "./value-view.tsx";

interface OutcomeViewProps {
  readonly outcome: Outcome;
  /** Moves the cursor of the editor to a place of the program. */
  readonly onPlace?: ((line: number, column: number) => void) | undefined;
}

/** How a run ended: its result, its error with the place, its notes, and what it used. */
export function OutcomeView({ outcome, onPlace }: OutcomeViewProps) {
  switch (outcome.kind) {
    case "completed":
      return (
        <>
          <ValueView value={outcome.value} />
          <Notes notes={outcome.notes} />
          <UsageLine usage={outcome.usage} />
        </>
      );
    case "failed":
      return (
        <>
          <PlacedError {...outcome.error} fix={outcome.error.hint} onPlace={onPlace} />
          <Notes notes={outcome.notes} />
          <UsageLine usage={outcome.usage} />
        </>
      );
    case "refused":
      return (
        <>
          {outcome.violations.map((violation, at) => (
            <PlacedError key={at} {...violation} onPlace={onPlace} />
          ))}
        </>
      );
    case "waiting":
      return (
        <pre class="code">
          <Text value={outcome.text} />
        </pre>
      );
  }
}

interface PlacedErrorProps {
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly frame: string;
  readonly fix: string;
  readonly onPlace: OutcomeViewProps["onPlace"];
}

function PlacedError({ code, message, line, column, frame, fix, onPlace }: PlacedErrorProps) {
  return (
    <div class="notice notice-error" role="alert">
      <p class="notice-title">
        <Text value={message} />
      </p>
      {frame !== "" && (
        <pre class="code error-frame" tabIndex={0} aria-label="The place in the program">
          <Text value={frame} />
        </pre>
      )}
      {fix !== "" && (
        <p>
          <Text value={fix} />
        </p>
      )}
      <p class="muted">
        <code>{code}</code>
        {line > 0 && onPlace !== undefined && (
          <>
            {" "}
            <button type="button" class="link" onClick={() => onPlace(line, column)}>
              line {line}, column {column + 1}
            </button>
          </>
        )}
      </p>
    </div>
  );
}

function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul class="approval-warning" aria-label="Notes">
      {notes.map((note, at) => (
        <li key={at}>
          <Text value={note} limit={1_000} />
        </li>
      ))}
    </ul>
  );
}

function UsageLine({ usage: { wallMs, cpuMs, memoryBytes, calls } }: { readonly usage: Usage }) {
  return (
    <p class="muted">
      {calls === 1 ? "1 call" : `${calls} calls`}, {formatDuration(wallMs)} in total, {formatDuration(cpuMs)} in the
      sandbox, {(memoryBytes / (1 << 20)).toFixed(1)} MiB
    </p>
  );
}
