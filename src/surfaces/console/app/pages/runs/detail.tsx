import { useEffect, useState } from "preact/hooks";

import type { RecordedCall, RecordedRunDetail } from "../../../run-messages.ts";
import { Card } from "../../components/card.tsx";
import { ErrorNotice } from "../../components/error-notice.tsx";
import { CallTimeline } from "../../components/outcome/call-timeline.tsx";
import { OutcomeView } from "../../components/outcome/outcome-view.tsx";
import { Skeleton } from "../../components/skeleton.tsx";
import { Text } from "../../components/text.tsx";
import { formatDuration, Time } from "../../components/time.tsx";
import { formatLink } from "../../router.ts";
import { onEvent } from "../../state/events.ts";
import { useResource } from "../../state/resource.ts";
import { RunActions } from "./actions.tsx";
import { RunStateBadge } from "./run-state-badge.tsx";

/** Milliseconds after which a run that lasts is loaded again, in addition to its events. */
const LIVE_MS = 1_000;

/** One recorded run: its program, the calls over time, the outcome. */
export function RunDetail({ id }: { readonly id: string }) {
  const { data, error, reload } = useResource<RecordedRunDetail>(`/runs/${encodeURIComponent(id)}`, {
    reloadOn: ["approvals"],
  });
  const run = data.value;
  const isLive = run !== undefined && run.ended === null;
  useEffect(() => onEvent("run", ({ runId }) => runId === id && reload()), [id]);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(reload, LIVE_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  if (error.value !== undefined) return <ErrorNotice error={error.value} onRetry={reload} />;
  if (run === undefined) return <Skeleton lines={12} />;
  return (
    <>
      <Facts run={run} />
      <RunActions run={run} onChange={reload} />
      <div class="columns">
        <Card title="Program">
          <Source run={run} />
        </Card>
        <Card title="Outcome">
          <OutcomeOfRun run={run} />
        </Card>
      </div>
      <Card title={run.timeline.length === 1 ? "1 call" : `${run.timeline.length} calls`}>
        <Timeline run={run} />
      </Card>
    </>
  );
}

function Facts({ run }: { readonly run: RecordedRunDetail }) {
  const { id, state, caller, created, updated, ended, effects, version, continues } = run;
  return (
    <p class="lead run-facts">
      <RunStateBadge state={state} />
      <code>{id}</code>
      <span>
        <Text value={caller} limit={100} />
      </span>
      <span>
        began <Time at={created} />
      </span>
      <span>{formatDuration((ended ?? updated) - created)}</span>
      <span>{effects === 1 ? "1 effect" : `${effects} effects`}</span>
      <span>
        skillgate <Text value={version} limit={40} />
      </span>
      {continues !== null && <a href={formatLink(["runs", continues])}>continues run {continues.slice(0, 8)}</a>}
    </p>
  );
}

/** The program with the numbers of the calls that each line has made. */
function Source({ run: { source, timeline } }: { readonly run: RecordedRunDetail }) {
  return (
    <ol class="code source" tabIndex={0} aria-label="Program">
      {source.split("\n").map((text, index) => (
        <li key={index}>
          <span class="source-text">
            <Text value={text} limit={1_000} />
          </span>
          {timeline
            .filter(({ line }) => line === index + 1)
            .slice(0, 5)
            .map(({ id }) => (
              <span key={id} class="source-call">
                call {id}
              </span>
            ))}
        </li>
      ))}
    </ol>
  );
}

function OutcomeOfRun({ run: { outcome, notes } }: { readonly run: RecordedRunDetail }) {
  if (outcome === null) return <p class="muted">The run has not ended</p>;
  const output = "output" in outcome ? outcome.output : "";
  return (
    <div class="outcome">
      {output !== "" && (
        <pre class="code" tabIndex={0} aria-label="Output">
          <Text value={output} />
        </pre>
      )}
      <OutcomeView outcome={outcome} />
      {notes.length > 0 && outcome.kind === "waiting" && <p class="muted">{notes.join(" ")}</p>}
    </div>
  );
}

function Timeline({ run: { timeline } }: { readonly run: RecordedRunDetail }) {
  const byId = new Map(timeline.map((call) => [call.id, call]));
  if (timeline.length === 0) return <p class="muted">The program has made no call</p>;
  return (
    <CallTimeline
      calls={timeline}
      renderDetail={({ id }) => {
        const call = byId.get(id);
        return call === undefined ? null : <RecordEntry call={call} />;
      }}
    />
  );
}

/** The arguments and the answer of a call, as the record has them. */
function RecordEntry({ call: { id, arguments: input, answer, notes, waits } }: { readonly call: RecordedCall }) {
  const [isOpen, setOpen] = useState(false);
  const open = waits.find(({ to }) => to === undefined);
  return (
    <>
      {open !== undefined && (
        <p>
          <a href={formatLink(["approvals", open.approval])}>It waits for an approval</a>
        </p>
      )}
      <details class="record" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          Arguments and answer<span class="visually-hidden"> of call {id}</span>
        </summary>
        {isOpen && (
          <div class="outcome">
            <pre class="code">
              <Text value={input} limit={2_000} />
            </pre>
            <pre class="code">{answer === null ? "no answer" : <Text value={answer} limit={2_000} />}</pre>
            {notes.map((note, at) => (
              <p key={at} class="muted">
                <Text value={note} limit={1_000} />
              </p>
            ))}
          </div>
        )}
      </details>
    </>
  );
}
