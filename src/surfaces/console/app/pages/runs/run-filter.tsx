import { useState } from "preact/hooks";

import { RECORDED_RUN_STATES } from "../../../program-messages.ts";
import { Button } from "../../components/elements.tsx";
import { type Choice, Field, FilterField } from "../../components/form.tsx";
import { toLocalTime, toMilliseconds } from "../../components/local-time.ts";
import { useNarrowWindow } from "../../components/virtual-table.tsx";

/** The filter and the order of a list of runs, as the address of the page has them; empty texts are absent. */
export type RunQuery = Readonly<Record<(typeof RUN_QUERY_NAMES)[number], string>>;

const FILTER_NAMES = ["text", "method", "caller", "state", "program", "hours", "since", "until", "min"] as const;
const RUN_QUERY_NAMES = [...FILTER_NAMES, "sort", "order"] as const;

export function readRunQuery(query: URLSearchParams): RunQuery {
  return Object.fromEntries(RUN_QUERY_NAMES.map((name) => [name, query.get(name) ?? ""])) as RunQuery;
}

export function hasFilter(query: RunQuery): boolean {
  return FILTER_NAMES.some((name) => query[name] !== "");
}

interface RunFilterProps {
  readonly query: RunQuery;
  readonly onChange: (change: Partial<RunQuery>) => void;
  /** False for a reader who sees only the own runs. */
  readonly hasCallers: boolean;
}

/** The fields of the filter. A narrow window shows all but the first at a click. */
export function RunFilterBar(props: RunFilterProps) {
  const { query, onChange } = props;
  const isNarrow = useNarrowWindow();
  const [isOpen, setOpen] = useState(false);
  const count = FILTER_NAMES.filter((name) => name !== "text" && query[name] !== "").length;
  return (
    <div class="filter">
      <FilterField
        label="Program"
        placeholder="Text in its first line"
        isLabelHidden={isNarrow}
        value={query.text}
        onChange={(text) => onChange({ text })}
      />
      {isNarrow && (
        <Button
          label={count === 0 ? "Filters" : `Filters (${count})`}
          isPressed={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
      )}
      {query.program !== "" && <Button label="Of one program ×" onClick={() => onChange({ program: "" })} />}
      {(!isNarrow || isOpen) && <FurtherFields {...props} />}
      {isNarrow && isOpen && <SortField {...props} />}
    </div>
  );
}

const STATES: readonly Choice[] = [
  ["", "every state"],
  ["failed,refused", "failed or refused"],
  ...RECORDED_RUN_STATES.map((each) => [each, each] as const),
];

const DURATIONS: readonly Choice[] = [
  ["", "any"],
  ["100", "100 ms or more"],
  ["1000", "1 s or more"],
  ["10000", "10 s or more"],
  ["60000", "1 min or more"],
  ["600000", "10 min or more"],
];

function FurtherFields({ query, onChange, hasCallers }: RunFilterProps) {
  return (
    <>
      <FilterField
        label="Method or skill"
        placeholder="MailSkill.send"
        isLabelHidden={false}
        value={query.method}
        onChange={(method) => onChange({ method })}
      />
      {hasCallers && (
        <FilterField
          label="Caller"
          placeholder="owner"
          isLabelHidden={false}
          value={query.caller}
          onChange={(caller) => onChange({ caller })}
        />
      )}
      <Field
        name="state"
        label="State"
        value={query.state}
        choices={withChoice(STATES, query.state)}
        onText={(state) => onChange({ state })}
      />
      <Field
        name="min"
        label="Duration"
        value={query.min}
        choices={withChoice(DURATIONS, query.min, `${query.min} ms or more`)}
        onText={(min) => onChange({ min })}
      />
      <TimeFields query={query} onChange={onChange} />
    </>
  );
}

/** Adds the value of an address that no list has. */
function withChoice(choices: readonly Choice[], value: string, title = value): readonly Choice[] {
  return choices.some(([each]) => each === value) ? choices : [...choices, [value, title]];
}

const RANGE = "range";

const TIMES: readonly Choice[] = [
  ["", "at any time"],
  ["1", "in the last hour"],
  ["24", "in the last day"],
  ["168", "in the last week"],
  [RANGE, "between two times"],
];

function TimeFields({ query: { hours, since, until }, onChange }: Pick<RunFilterProps, "query" | "onChange">) {
  const [isChosen, setChosen] = useState(false);
  const isRange = isChosen || since !== "" || until !== "";
  const choose = (value: string): void => {
    setChosen(value === RANGE);
    onChange({ hours: value === RANGE ? "" : value, since: "", until: "" });
  };
  return (
    <>
      <Field
        name="hours"
        label="Began"
        value={isRange ? RANGE : hours}
        choices={withChoice(TIMES, hours, `in the last ${hours} hours`)}
        onText={choose}
      />
      {isRange && (
        <>
          <Field
            name="since"
            label="From"
            type="datetime-local"
            class="field-wide"
            value={toLocalTime(since)}
            onText={(text) => onChange({ since: toMilliseconds(text) })}
          />
          <Field
            name="until"
            label="Before"
            type="datetime-local"
            class="field-wide"
            value={toLocalTime(until)}
            onText={(text) => onChange({ until: toMilliseconds(text) })}
          />
        </>
      )}
    </>
  );
}

const ORDERS: readonly Choice[] = [
  [" ", "newest first"],
  [" up", "oldest first"],
  ["duration ", "longest first"],
  ["calls ", "most calls first"],
];

/** The order, for windows in which the table has no head. */
function SortField({ query, onChange }: Pick<RunFilterProps, "query" | "onChange">) {
  const value = `${query.sort} ${query.order}`;
  return (
    <Field
      name="sort"
      label="Order"
      value={value}
      choices={withChoice(ORDERS, value, `by ${query.sort}`)}
      onText={(text) => {
        const [sort = "", order = ""] = text.split(" ");
        onChange({ sort, order });
      }}
    />
  );
}
