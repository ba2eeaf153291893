import type { AutomationDetail } from "../../../automation-messages.ts";
import { Card, Facts, TextList } from "../../components/elements.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { Heading } from "../../components/heading.tsx";
import { Load } from "../../components/load.tsx";
import { Program } from "../../components/program.tsx";
import { countNoun, formatDuration, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import { AutomationActions } from "./actions.tsx";
import { AutomationHistoryView } from "./history.tsx";
import { OfferView, Plan } from "./offer.tsx";
import { AutomationBadge, WaitingText } from "./states.tsx";
import { formatZoneTime } from "./times.ts";

interface AutomationDetailProps {
  readonly name: string;
  readonly mayChange: boolean;
}

/** Milliseconds after which a change of the file is seen. */
const FILE_MS = 15_000;

/** One automation: its state, when it runs, what it may do, its program and its history. */
export function AutomationDetailView({ name, mayChange }: AutomationDetailProps) {
  return (
    <>
      <Heading title={name} back={{ title: "Automations", href: formatLink(["automations"]) }} />
      <Load<AutomationDetail>
        path={`/automations/${encodeURIComponent(name)}`}
        reloadOn={["automations", "catalog"]}
        everyMs={FILE_MS}
      >
        {(automation) => (
          <>
            {mayChange && <AutomationActions automation={automation} />}
            <div class="columns">
              <Card title="Automation">
                <AutomationFacts automation={automation} />
              </Card>
              <Triggers automation={automation} />
            </div>
            <Content automation={automation} />
          </>
        )}
      </Load>
      <AutomationHistoryView name={name} mayChange={mayChange} />
    </>
  );
}

function AutomationFacts({ automation }: { readonly automation: AutomationDetail }) {
  const { state, reason, description, key, by, failures, limits, problem } = automation;
  return (
    <Facts
      facts={{
        State: (
          <>
            <AutomationBadge state={state} />
            {reason !== null && reason !== "" && <Text in="p" value={reason} limit={2_000} />}
            {problem !== null && problem !== reason && <Text in="p" value={problem} limit={2_000} />}
          </>
        ),
        Description: description !== null && <Text value={description} limit={1_000} />,
        Key: key !== null && <Text href={formatLink(["keys"])} value={key} limit={200} />,
        [state === "proposed" ? "Proposed by" : "Accepted by"]: by !== null && <Text value={by} limit={200} />,
        Failures: failures > 0 && `${failures} in succession`,
        Limits: limits !== null && describeLimits(limits),
      }}
    />
  );
}

function describeLimits({
  runsPerHour = 0,
  parallel = 0,
  calls = 0,
  minutes = 0,
}: NonNullable<AutomationDetail["limits"]>) {
  const each = `each at most ${countNoun(calls, "call")} and ${countNoun(minutes, "minute")}`;
  return `${countNoun(runsPerHour, "run")} an hour, ${parallel} at the same time, ${each}`;
}

/** When it runs by itself. */
function Triggers({ automation }: { readonly automation: AutomationDetail }) {
  const { schedule, timing, webhook, hook, waiting } = automation;
  return (
    <Card title="When it runs">
      {schedule === null && webhook === null && <p class="muted">It runs when a person starts it.</p>}
      {schedule !== null && timing !== null && (
        <Facts
          facts={{
            Schedule: <Text value={schedule} limit={300} />,
            [automation.next === null ? "Next, if it ran" : "Next"]:
              timing.next.length === 0 ? "never: the schedule has ended" : <NextSlots timing={timing} />,
            "While it runs": OVERLAPS[timing.overlap],
            "Missed slots": describeCatchUp(timing),
            Jitter: timing.jitterMs > 0 && `up to ${formatDuration(timing.jitterMs)} after the slot`,
          }}
        />
      )}
      {webhook !== null && (
        <Facts
          facts={{
            Webhook: (
              <span class="row">
                <Text in="code" class="words" value={webhook} limit={500} />
                <CopyButton label="Copy URL" getText={() => webhook} />
              </span>
            ),
            "Verified by": hook !== null && <Text value={hook.scheme} limit={300} />,
            Secrets: hook !== null && <TextList class="words" texts={hook.secrets} />,
            Waiting: waiting !== null && <WaitingText waiting={waiting} />,
            Refused: hook !== null && hook.refused !== null && (
              <>
                {countNoun(hook.refused.count, "request")}, the last <Time at={hook.refused.at} />
                <Text in="p" value={hook.refused.why} limit={500} />
              </>
            ),
          }}
        />
      )}
    </Card>
  );
}

/** The next times in the zone of the schedule, and in that of the reader. */
function NextSlots({ timing: { next, zone } }: { readonly timing: NonNullable<AutomationDetail["timing"]> }) {
  return (
    <ol class="stack-tight" aria-label="Next times">
      {next.map((at) => (
        <li key={at}>
          <Text value={formatZoneTime(at, zone)} limit={100} />{" "}
          <span class="muted">
            (yours: <Time at={at} />)
          </span>
        </li>
      ))}
    </ol>
  );
}

const OVERLAPS: Readonly<Record<string, string>> = {
  skip: "a new slot is skipped",
  queue: "a new slot waits",
  parallel: "a new slot runs at the same time",
  cancel: "a new slot cancels the run",
};

function describeCatchUp({ catchUp, windowMs }: NonNullable<AutomationDetail["timing"]>): string {
  if (catchUp === "none") return "do not run";
  const which = catchUp === "one" ? "the latest one runs later" : "all run later";
  const hours = windowMs / 3_600_000;
  return `${which}, if it is not older than ${hours >= 1 ? countNoun(Math.round(hours), "hour") : formatDuration(windowMs)}`;
}

/** The program, the plan, and what differs from the accepted version. */
function Content({ automation }: { readonly automation: AutomationDetail }) {
  const { isHidden, offer, state } = automation;
  if (isHidden && automation.problem === null)
    return (
      <p class="notice">
        Its program names methods that you may not see, so program, plan, inputs and errors are not shown. The owner can
        give the key the permission to see these methods.
      </p>
    );
  if (offer === null) return null;
  const isAccepted = state !== "proposed" && state !== "unaccepted";
  return (
    <>
      {(!isAccepted || offer.difference.lines.length + offer.difference.methods.length > 0 || offer.flaw !== null) && (
        <Card title={isAccepted ? "Changes since it was accepted" : "To accept"}>
          <OfferView offer={offer} isAccepted={isAccepted} />
        </Card>
      )}
      <div class="columns">
        <Card title="Program">
          <Program label="Program" source={offer.source} />
        </Card>
        <Card title="Plan">
          <Plan calls={offer.calls} />
        </Card>
      </div>
    </>
  );
}
