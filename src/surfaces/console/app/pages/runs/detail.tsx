import { useEffect, useState } from "preact/hooks";

import type { RecordedCall, RecordedRunDetail } from "../../../messages.ts";
import { Card, StatusBadge } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { CallTimeline } from "../../components/outcome/call-timeline.tsx";
import { OutcomeView } from "../../components/outcome/outcome-view.tsx";
import { Code, countNoun, formatDuration, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { onEvent } from "../../state/events.ts";
import { RunActions } from "./actions.tsx";

/** Milliseconds after which a run that lasts is loaded again, in addition to its events. */
const LIVE_MS = 1_000;

/** One recorded run: its program, the calls over time, the outcome. */
export function RunDetail({ id }: { readonly id: string }) {
  return (
    <Load<RecordedRunDetail> path={`/runs/${encodeURIComponent(id)}`} reloadOn={["approvals"]} lines={12}>
      {(run, reload) => <Detail run={run} reload={reload} />}
    </Load>
  );
}

interface DetailProps {
  readonly run: RecordedRunDetail;
  readonly reload: () => void;
}

function Detail({ run, reload }: DetailProps) {
  const isLive = run.ended === null;
  useEffect(() => onEvent("run", ({ runId }) => runId === run.id && reload()), [run.id]);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(reload, LIVE_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  return (
    <>
      <Facts run={run} />
      {run.isHidden && (
        <p class="notice">
          The run names methods that you may not see, so its program, calls and outcome are not shown. The owner can
          give the key the permission to see these methods.
        </p>
      )}
      {run.size > 0 && <RunActions run={run} onChange={reload} />}
      <div class="columns">
        <Card title="Program">
          <Source run={run} />
        </Card>
        <Card title="Outcome">
          <OutcomeOfRun run={run} />
        </Card>
      </div>
      <Card title={countNoun(run.calls, "call")}>
        {run.timeline.length === 0 && (
          <p class="muted">{run.calls === 0 ? "The program has made no call" : "The calls are not recorded"}</p>
        )}
        <CallTimeline calls={run.timeline} renderDetail={(call) => <RecordEntry call={call} />} />
      </Card>
    </>
  );
}

function Facts({ run }: { readonly run: RecordedRunDetail }) {
  const { id, state, caller, created, updated, ended, effects, version, continues } = run;
  return (
    <p class="row muted">
      <StatusBadge label={state} />
      <code>{id}</code>
      <Text in="span" value={caller} limit={100} />
      <span>
        began <Time at={created} />
      </span>
      <span>{formatDuration((ended ?? updated) - created)}</span>
      <span>{countNoun(effects, "effect")}</span>
      <Text in="span" value={`skillgate ${version}`} limit={50} />
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
          <Text in="span" class="source-text" value={text} limit={1_000} />
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

function OutcomeOfRun({ run: { outcome, notes, size } }: { readonly run: RecordedRunDetail }) {
  if (outcome === null) return <p class="muted">The run has not ended</p>;
  if (size === 0 && outcome.kind === "completed") return <p class="muted">{outcome.text}</p>;
  return (
    <div class="stack outcome">
      {"output" in outcome && outcome.output !== "" && <Code label="Output" value={outcome.output} />}
      <OutcomeView outcome={outcome} />
      {notes.length > 0 && outcome.kind === "waiting" && <p class="muted">{notes.join(" ")}</p>}
    </div>
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
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          Arguments and answer<span class="visually-hidden"> of call {id}</span>
        </summary>
        {isOpen && (
          <div class="stack">
            <Code value={input} limit={2_000} />
            <Code value={answer ?? "no answer"} limit={2_000} />
            {notes.map((note, at) => (
              <Text key={at} in="p" class="muted" value={note} limit={1_000} />
            ))}
          </div>
        )}
      </details>
    </>
  );
}
