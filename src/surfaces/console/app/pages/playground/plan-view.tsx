import type { PlannedSite, ProgramCheck } from "../../../run-messages.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Text } from "../../components/text.tsx";

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
  return (
    <section class="plan" aria-label="Check">
      <StatusBadge
        tone={isValid ? "ok" : "bad"}
        label={isValid ? describePlan(plan) : countErrors(violations.length)}
      />
      <ul class="plan-list">
        {violations.slice(0, MAX_ENTRIES).map(({ line, column, message, fix }, at) => (
          <li key={at}>
            <PlaceButton line={line} column={column} onPlace={onPlace} />
            <Text value={message} limit={600} />
            <span class="muted">
              <Text value={fix} limit={600} />
            </span>
          </li>
        ))}
        {isValid &&
          plan.slice(0, MAX_ENTRIES).map((site, at) => (
            <li key={at}>
              <PlaceButton line={site.line} column={site.column} onPlace={onPlace} />
              <code>
                <Text value={site.text} limit={300} />
              </code>
              <span class="muted">{listCircumstances(site)}</span>
            </li>
          ))}
        {isValid &&
          notes.map((note) => (
            <li key={note} class="muted">
              <Text value={note} limit={600} />
            </li>
          ))}
      </ul>
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

function describePlan(plan: readonly PlannedSite[]): string {
  if (plan.length === 0) return "valid, calls nothing";
  return plan.length === 1 ? "valid, 1 call" : `valid, ${plan.length} calls`;
}

function countErrors(count: number): string {
  return count === 1 ? "1 error" : `${count} errors`;
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
