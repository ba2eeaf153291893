import { useState } from "preact/hooks";

import { AUTOMATION_STATES, type AutomationList, type AutomationSummary } from "../../../automation-messages.ts";
import { EmptyState } from "../../components/elements.tsx";
import { type Choice, Field, FilterField } from "../../components/form.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text, Time } from "../../components/text.tsx";
import { formatLink } from "../../router.ts";
import {
  AutomationBadge,
  AutomationLink,
  getStateLabel,
  OccurrenceBadge,
  OccurrenceTime,
  WaitingText,
} from "./states.tsx";

/** Milliseconds after which a change of a file is seen. */
const FILES_MS = 15_000;

/** Rows that are drawn at once. */
const MAX_ROWS = 200;

/** The list of automations with its filter: those that need a person are first. */
export function AutomationListView() {
  const [text, setText] = useState("");
  const [state, setState] = useState("");
  const query = new URLSearchParams({ text, state, limit: String(MAX_ROWS) });
  return (
    <Load<AutomationList>
      path={`/automations?${query}`}
      reloadOn={["automations", "catalog"]}
      everyMs={FILES_MS}
      lines={4}
    >
      {({ rows, total, states }) => {
        const count = Object.values(states).reduce((sum, each) => sum + each, 0);
        if (count === 0) return <NoAutomations />;
        return (
          <>
            <div class="row">
              <FilterField
                label="Filter automations"
                placeholder="Filter by name, description or key"
                class="wide"
                onChange={setText}
              />
              <Field
                name="state"
                label="State"
                isLabelHidden
                value={state}
                choices={listChoices(states, count)}
                onText={setState}
              />
            </div>
            <p class="visually-hidden" role="status">
              {countNoun(total, "automation")}
            </p>
            <ul class="list">
              {rows.map((automation) => (
                <AutomationRow key={automation.name} automation={automation} />
              ))}
            </ul>
            {total === 0 && <p class="muted">No automation matches the filter.</p>}
            {total > rows.length && (
              <p class="muted">
                {rows.length} of {countNoun(total, "automation")}. Use the filter to see the others.
              </p>
            )}
          </>
        );
      }}
    </Load>
  );
}

function listChoices(states: AutomationList["states"], count: number): readonly Choice[] {
  return [
    ["", `All states (${count})`],
    ...AUTOMATION_STATES.map((state): Choice => [state, `${getStateLabel(state)} (${states[state] ?? 0})`]),
  ];
}

function NoAutomations() {
  return (
    <EmptyState icon="automations" title="No automations">
      An automation is a program that runs by itself, by a schedule or a webhook, with the rights of a key. Run a
      program in the <a href={formatLink(["playground"])}>playground</a>, then save it as an automation. In a terminal:{" "}
      <code>skillgate automation add</code>
    </EmptyState>
  );
}

function AutomationRow({ automation }: { readonly automation: AutomationSummary }) {
  const { name, state, reason, description, schedule, next, webhook, waiting, last } = automation;
  return (
    <li class="list-row">
      <span class="list-main">
        <AutomationLink name={name} />
        {description !== null && <Text in="span" class="muted wide-only" value={description} limit={150} />}
        <span class="muted line">
          {schedule !== null && <Text value={schedule} limit={200} />}
          {schedule !== null && webhook !== null && " · "}
          {webhook !== null && <Text value={`webhook ${webhook}`} limit={300} />}
          {schedule === null && webhook === null && description !== null && "runs when a person starts it"}
          {next !== null && (
            <>
              {" · next "}
              <Time at={next} />
            </>
          )}
          {last !== null && (
            <>
              {" · last "}
              <OccurrenceTime occurrence={last} /> <OccurrenceBadge state={last.state} />
            </>
          )}
        </span>
        {reason !== null && reason !== "" && <Text in="span" class="line" value={reason} limit={300} />}
        {waiting !== null && (
          <span class="line">
            <WaitingText waiting={waiting} />
          </span>
        )}
      </span>
      <AutomationBadge state={state} />
    </li>
  );
}
