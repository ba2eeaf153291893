import type { Outcome, Usage } from "../../../../../model/outcome.ts";
import { TextList } from "../elements.tsx";
import { Code, countNoun, formatDuration, Text } from "../text.tsx";
import { ValueView } from "./value-view.tsx";

interface OutcomeViewProps {
  readonly outcome: Outcome;
  /** The type of the result as TypeScript, where it is known. */
  readonly type?: string | undefined;
  /** Moves the cursor of the editor to a place of the program. */
  readonly onPlace?: ((line: number, column: number) => void) | undefined;
}

/** How a run ended: its result, its error with the place, its notes, and what it used. */
export function OutcomeView({ outcome, type, onPlace }: OutcomeViewProps) {
  return (
    <>
      <Ending outcome={outcome} type={type} onPlace={onPlace} />
      {"notes" in outcome && <TextList class="warning" label="Notes" texts={outcome.notes} />}
      {"usage" in outcome && <UsageLine usage={outcome.usage} />}
    </>
  );
}

function Ending({ outcome, type, onPlace }: OutcomeViewProps) {
  switch (outcome.kind) {
    case "completed":
      return <ValueView value={outcome.value} type={type} />;
    case "failed":
      return <PlacedError {...outcome.error} fix={outcome.error.hint} onPlace={onPlace} />;
    case "refused":
      return (
        <>
          {outcome.violations.map((violation, at) => (
            <PlacedError key={at} {...violation} onPlace={onPlace} />
          ))}
        </>
      );
    case "waiting":
      return <Code value={outcome.text} />;
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
      <Text in="p" class="notice-title" value={message} />
      {frame !== "" && <Code class="error-frame" label="The place in the program" value={frame} />}
      {fix !== "" && <Text in="p" value={fix} />}
      <p class="muted">
        <code>{code}</code>{" "}
        {line > 0 && onPlace !== undefined && (
          <button type="button" class="link" onClick={() => onPlace(line, column)}>
            line {line}, column {column + 1}
          </button>
        )}
      </p>
    </div>
  );
}

function UsageLine({ usage: { wallMs, cpuMs, memoryBytes, calls } }: { readonly usage: Usage }) {
  return (
    <p class="muted">
      {countNoun(calls, "call")}, {formatDuration(wallMs)} in total, {formatDuration(cpuMs)} in the sandbox,{" "}
      {(memoryBytes / (1 << 20)).toFixed(1)} MiB
    </p>
  );
}
