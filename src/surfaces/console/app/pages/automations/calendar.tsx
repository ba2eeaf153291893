import type { AutomationCalendar, UpcomingSlots } from "../../../automation-messages.ts";
import { EmptyState } from "../../components/elements.tsx";
import { Load } from "../../components/load.tsx";
import { countNoun, Text, Time } from "../../components/text.tsx";
import { useNarrowWindow } from "../../components/virtual-table.tsx";
import { AutomationLink } from "./states.tsx";
import { formatClock, formatDay, formatZoneClock, getDay, groupBy, listDays } from "./times.ts";

/** Milliseconds between two loads, after which slots of the past are gone. */
const RELOAD_MS = 60_000;

const DAYS = 7;

type CalendarSlot = UpcomingSlots["slots"][number];

/** The coming slots of today and the six days after it, in the zone of the reader: a table, or a list in a narrow window. */
export function AutomationCalendarView() {
  const days = listDays(new Date(), DAYS);
  const until = (days.at(-1)?.end ?? 0) - 1;
  return (
    <Load<AutomationCalendar>
      path={`/calendar?until=${until}`}
      reloadOn={["automations"]}
      everyMs={RELOAD_MS}
      lines={6}
    >
      {(calendar) => <Calendar calendar={calendar} days={days.map(({ start }) => start)} />}
    </Load>
  );
}

interface CalendarProps {
  readonly calendar: AutomationCalendar;
  /** The starts of the days, in milliseconds since 1970. */
  readonly days: readonly number[];
}

function Calendar({ calendar, days }: CalendarProps) {
  const isNarrow = useNarrowWindow();
  const { slots, frequent, moreCount, isComplete } = calendar;
  if (slots.length === 0 && frequent.length === 0)
    return (
      <EmptyState icon="automations" title="Nothing is due in these days">
        Automations with a schedule stand here while they are enabled.
      </EmptyState>
    );
  return (
    <>
      <p class="muted">
        Times are in your zone, {Intl.DateTimeFormat().resolvedOptions().timeZone}. Where the zone of a schedule shows
        another time, it stands beside it.
      </p>
      {slots.length > 0 && (isNarrow ? <DayLists slots={slots} /> : <WeekTable slots={slots} days={days} />)}
      {moreCount > 0 && <p class="muted">and {countNoun(moreCount, "slot")} after these</p>}
      {!isComplete && <p class="muted">There are more automations than were looked at.</p>}
      {frequent.length > 0 && <Frequent calendar={calendar} />}
    </>
  );
}

/** Rows are the hours that have slots, columns are days. */
function WeekTable({ slots, days }: { readonly slots: readonly CalendarSlot[]; readonly days: readonly number[] }) {
  const hours = [...new Set(slots.map(({ at }) => new Date(at).getHours()))].toSorted((a, b) => a - b);
  const cells = groupBy(slots, ({ at }) => `${getDay(at)} ${new Date(at).getHours()}`);
  return (
    <div class="calendar-scroller" tabIndex={0} role="region" aria-label="Calendar of the coming days">
      <table class="calendar">
        <caption class="visually-hidden">Coming slots by hour and day</caption>
        <thead>
          <tr>
            <td />
            {days.map((day) => (
              <th key={day} scope="col">
                {formatDay(day)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {hours.map((hour) => (
            <tr key={hour}>
              <th scope="row">{`${String(hour).padStart(2, "0")}:00`}</th>
              {days.map((day) => {
                const listed = cells.get(`${day} ${hour}`) ?? [];
                return <td key={day}>{listed.length > 0 && <Slots slots={listed} />}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The slots of each day, one day below the other. */
function DayLists({ slots }: { readonly slots: readonly CalendarSlot[] }) {
  return (
    <>
      {[...groupBy(slots, ({ at }) => String(getDay(at)))].map(([day, listed]) => (
        <section key={day} class="stack-tight">
          <h3>{formatDay(Number(day))}</h3>
          <Slots slots={listed} />
        </section>
      ))}
    </>
  );
}

function Slots({ slots }: { readonly slots: readonly CalendarSlot[] }) {
  return (
    <ul class="stack-tight">
      {slots.map(({ automation, at, zone }) => {
        const other = formatZoneClock(at, zone);
        return (
          <li key={`${automation} ${at}`}>
            <time dateTime={new Date(at).toISOString()}>{formatClock(at)}</time> <AutomationLink name={automation} />
            {other !== undefined && <Text in="small" class="muted slot-zone" value={other} limit={100} />}
          </li>
        );
      })}
    </ul>
  );
}

/** Automations that run too often to stand in the table. */
function Frequent({ calendar: { frequent, moreFrequentCount } }: { readonly calendar: AutomationCalendar }) {
  return (
    <section class="stack-tight">
      <h3>Many times a day</h3>
      <ul class="list">
        {frequent.map(({ automation, at, schedule }) => (
          <li key={automation} class="list-row">
            <span class="list-main">
              <AutomationLink name={automation} />
              <Text in="span" class="muted" value={schedule} limit={200} />
            </span>
            <span class="muted">
              next <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
      {moreFrequentCount > 0 && <p class="muted">and {countNoun(moreFrequentCount, "automation")} more</p>}
    </section>
  );
}
