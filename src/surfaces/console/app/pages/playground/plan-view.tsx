import type { PlannedSite, ProgramCheck } from "../../../program-messages.ts";
import { StatusBadge, TextList } from "../../components/elements.tsx";
import { countNoun, Text } from "../../components/text.tsx";

interface PlanViewProps {
  readonly check: ProgramCheck | undefined;
  readonly onPlace: (line: number, column: number) => void;
}

const MAX_ENTRIES = 50;

/** The errors of a program, or the calls that it will make. */
export function PlanView({ check, onPlace }: PlanViewProps) {
  if (check === undefined) return null;
  const { violations, plan, notes } = check;
  const isValid = violations.length === 0;
  const calls = plan.length === 0 ? "calls nothing" : countNoun(plan.length, "call");
  return (
    <section class="stack-tight" aria-label="Check">
      <StatusBadge
        tone={isValid ? "ok" : "bad"}
        label={isValid ? `valid, ${calls}` : countNoun(violations.length, "error")}
      />
      <ul class="stack-tight plan-list">
        {violations.slice(0, MAX_ENTRIES).map(({ line, column, message, fix }, at) => (
          <li key={at} class="row">
            <PlaceButton line={line} column={column} onPlace={onPlace} />
            <Text value={message} limit={600} />
            <Text in="span" class="muted" value={fix} limit={600} />
          </li>
        ))}
        {isValid &&
          plan.slice(0, MAX_ENTRIES).map((site, at) => (
            <li key={at} class="row">
              <PlaceButton line={site.line} column={site.column} onPlace={onPlace} />
              <Text in="code" value={site.text} limit={300} />
              <span class="muted">{listCircumstances(site)}</span>
            </li>
          ))}
      </ul>
      {isValid && <TextList class="muted" texts={notes} />}
    </section>
  );
}

interface PlaceButtonProps extends Pick<PlanViewProps, "onPlace"> {
  readonly line: number;
  readonly column: number;
}

function PlaceButton({ line, column, onPlace }: PlaceButtonProps) {
  return (
    <button type="button" class="link plan-place" onClick={() => onPlace(line, column)}>
      line {line}
    </button>
  );
}

function listCircumstances({ inLoop, conditional, parallel, dynamic }: PlannedSite): string {
  const words = [
    inLoop && "in a loop",
    conditional && "under a condition",
    parallel && "in parallel",
    dynamic && "passed on",
  ].filter((word) => word !== false);
  return words.length === 0 ? "" : `(${words.join(", ")})`;
}
