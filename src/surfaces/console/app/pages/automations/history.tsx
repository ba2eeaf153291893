import { useState } from "preact/hooks";

import type { AutomationHistory, OccurrenceInput, OccurrenceSummary } from "../../../automation-messages.ts";
import { request } from "../../api.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Button, Card, EmptyState } from "../../components/elements.tsx";
import { JsonTree } from "../../components/json-tree.tsx";
import { Load } from "../../components/load.tsx";
import { formatDuration, Text } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { announceChange } from "../../state/announce-change.ts";
import { OccurrenceBadge, OccurrenceTime } from "./states.tsx";

/** Occurrences that are listed at once. */
const PAGE = 50;

interface HistoryProps {
  readonly name: string;
  readonly mayChange: boolean;
}

/** The occurrences of an automation, the latest first, in parts. */
export function AutomationHistoryView({ name, mayChange }: HistoryProps) {
  const [offset, setOffset] = useState(0);
  const [shownInput, setInput] = useState<string | undefined>(undefined);
  const path = `/automations/${encodeURIComponent(name)}`;
  const retry = async (occurrence: string): Promise<void> => {
    await request<OccurrenceSummary>(`${path}/retry`, { method: "POST", body: { occurrence } });
    announceChange("It runs again: what its run has done is not done again", "automations");
  };
  return (
    <Card title="History">
      <Load<AutomationHistory>
        path={`${path}/history?limit=${PAGE}&offset=${offset}`}
        reloadOn={["automations"]}
        lines={3}
      >
        {({ rows, hasMore }) =>
          rows.length === 0 && offset === 0 ? (
            <EmptyState icon="automations" title="It has not run yet">
              Each slot, delivery and run by hand is listed here.
            </EmptyState>
          ) : (
            <>
              <ul class="list">
                {rows.map((occurrence) => (
                  <OccurrenceRow
                    key={occurrence.id}
                    occurrence={occurrence}
                    onInput={() => setInput(occurrence.id)}
                    onRetry={mayChange ? () => retry(occurrence.id) : undefined}
                  />
                ))}
              </ul>
              <div class="row">
                {offset > 0 && <Button label="Newer" onClick={() => setOffset(Math.max(0, offset - PAGE))} />}
                {hasMore && <Button label="Older" onClick={() => setOffset(offset + PAGE)} />}
              </div>
            </>
          )
        }
      </Load>
      {shownInput !== undefined && (
        <Dialog title="Input" onClose={() => setInput(undefined)}>
          <Load<OccurrenceInput> path={`${path}/input?occurrence=${encodeURIComponent(shownInput)}`}>
            {({ json }) => <Input json={json} />}
          </Load>
        </Dialog>
      )}
    </Card>
  );
}

const KINDS = { slot: "schedule", delivery: "webhook", manual: "by hand" } as const satisfies Readonly<
  Record<OccurrenceSummary["kind"], string>
>;

const RETRIED: ReadonlySet<OccurrenceSummary["state"]> = new Set(["failed", "cancelled", "skipped"]);

interface OccurrenceRowProps {
  readonly occurrence: OccurrenceSummary;
  readonly onInput: () => void;
  /** Missing for readers who may not change automations. */
  readonly onRetry: (() => Promise<void>) | undefined;
}

function OccurrenceRow({ occurrence, onInput, onRetry }: OccurrenceRowProps) {
  const { id, kind, state, started, ended, error, attempt, run } = occurrence;
  return (
    <li class="list-row">
      <span class="list-main">
        <OccurrenceTime occurrence={occurrence} />
        <span class="muted">{KINDS[kind]}</span>
        {started !== null && ended !== null && <span class="muted wide-only">{formatDuration(ended - started)}</span>}
        {attempt > 1 && <span class="muted">attempt {attempt}</span>}
        {run !== null && (
          <a class="wide-only" href={formatLink(["runs", run])}>
            run {run.slice(0, 8)}
          </a>
        )}
        {kind === "delivery" && <Text in="span" class="muted line" value={`delivery ${id}`} limit={100} />}
        {error !== null && <Text in="span" class="line" value={error} limit={500} />}
      </span>
      {kind !== "slot" && <Button label="Input" tone="small" title={`Show the input of ${id}`} onClick={onInput} />}
      {onRetry !== undefined && RETRIED.has(state) && (
        <Button label="Retry" tone="small" title={`Run ${id} again`} onClick={onRetry} />
      )}
      <OccurrenceBadge state={state} />
    </li>
  );
}

function Input({ json }: OccurrenceInput) {
  if (json === null) return <p class="muted">It has no input of its own.</p>;
  return <JsonTree value={JSON.parse(json) as unknown} openLevels={3} />;
}
