import { useEffect, useState } from "preact/hooks";

import type { RecordedCall, RecordedRunDetail, RunNeighbours } from "../../../program-messages.ts";
import { request } from "../../api.ts";
import { Card, StatusBadge } from "../../components/elements.tsx";
import { Heading } from "../../components/heading.tsx";
import { Load } from "../../components/load.tsx";
import { LogList } from "../../components/log-list.tsx";
import { CallTimeline, sumWaits } from "../../components/outcome/call-timeline.tsx";
import { OutcomeView } from "../../components/outcome/outcome-view.tsx";
import { ProgramLine, splitProgram } from "../../components/program.tsx";
import { Code, countNoun, formatDuration, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { onEvent } from "../../state/events.ts";
import { RunActions } from "./actions.tsx";
import type { RunQuery } from "./run-filter.tsx";
import { formatRunQuery } from "./run-table.tsx";

/** Milliseconds after which a run that lasts is loaded again, in addition to its events. */
const LIVE_MS = 1_000;

interface RunDetailProps {
  readonly id: string;
  /** The filter and the order of the list in which the run stands. */
  readonly query: RunQuery;
}

/** One recorded run: its program, the calls over time, the outcome. */
export function RunDetail({ id, query }: RunDetailProps) {
  return (
    <>
      <Heading title={`Run ${id.slice(0, 8)}`} back={{ title: "Runs", href: formatLink(["runs"], query) }}>
        <Neighbours id={id} query={query} />
      </Heading>
      <Load<RecordedRunDetail> path={`/runs/${encodeURIComponent(id)}`} reloadOn={["approvals"]} lines={12}>
        {(run, reload) => <Detail run={run} reload={reload} />}
      </Load>
    </>
  );
}

/** The links to the runs before and after this one in the list. */
function Neighbours({ id, query }: RunDetailProps) {
  const [{ previous, next }, setNeighbours] = useState<RunNeighbours>({ previous: null, next: null });
  useEffect(() => {
    request<RunNeighbours>(`/runs/${encodeURIComponent(id)}/neighbours?${formatRunQuery(query)}`).then(
      setNeighbours,
      () => {}, // the page says what is wrong with the run
    );
  }, [id]);
  return (
    <nav class="row" aria-label="Neighbours in the list">
      {previous !== null && (
        <a class="button button-small" href={formatLink(["runs", previous], query)}>
          ← Previous
        </a>
      )}
      {next !== null && (
        <a class="button button-small" href={formatLink(["runs", next], query)}>
          Next →
        </a>
      )}
    </nav>
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
      <Card title={countNoun(Math.max(run.calls, run.timeline.length), "call")}>
        {run.timeline.length === 0 && (
          <p class="muted">{run.calls === 0 ? "The program has made no call" : "The calls are not recorded"}</p>
        )}
        <CallTimeline
          calls={run.timeline}
          until={isLive ? Date.now() - run.created : undefined}
          renderDetail={(call) => <RecordEntry call={call} />}
        />
      </Card>
      {run.log.length > 0 && (
        <Card title="Log">
          <LogList lines={run.log} />
        </Card>
      )}
    </>
  );
}

function Facts({ run }: { readonly run: RecordedRunDetail }) {
  const { id, state, caller, created, ended, effects, version, continues, program } = run;
  return (
    <p class="row muted">
      <StatusBadge label={state} />
      <code>{id}</code>
      <Text in="span" value={caller} limit={100} />
      <span>
        began <Time at={created} />
      </span>
      <span>{describeDuration(run)}</span>
      <span>{countNoun(effects, "effect")}</span>
      {ended !== null && program !== "" && <a href={formatLink(["runs"], { program })}>all runs of this program</a>}
      <Text in="span" value={`skillgate ${version}`} limit={50} />
      {continues !== null && <a href={formatLink(["runs", continues])}>continues run {continues.slice(0, 8)}</a>}
    </p>
  );
}

/** The time of the run without that in which it waited for persons, and that time. */
function describeDuration({ created, ended, timeline }: RecordedRunDetail): string {
  const wholeMs = (ended ?? Date.now()) - created;
  const waits = timeline.flatMap((call) => call.waits);
  const waitedMs = sumWaits(waits, wholeMs);
  const worked = formatDuration(Math.max(0, wholeMs - waitedMs));
  return waitedMs === 0 ? worked : `${worked}, and ${formatDuration(waitedMs)} of waiting for a person`;
}

/** The program with the numbers of the calls that each line has made. */
function Source({ run: { source, timeline } }: { readonly run: RecordedRunDetail }) {
  return (
    <ol class="code source" tabIndex={0} aria-label="Program">
      {splitProgram(source).map((tokens, index) => (
        <li key={index}>
          <span class="source-text">
            <ProgramLine tokens={tokens} />
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
