/** A day of the reader's calendar, in milliseconds since 1970. */
export interface Day {
  readonly start: number;
  readonly end: number;
}

/** Lists days from the one of a moment on. A day with a change of the clock has 23 or 25 hours. */
export function listDays(from: Date, count: number): readonly Day[] {
  const toStart = (index: number): number =>
    new Date(from.getFullYear(), from.getMonth(), from.getDate() + index).getTime();
  return Array.from({ length: count }, (_, index) => ({ start: toStart(index), end: toStart(index + 1) }));
}

/** Returns the start of the day of a moment. */
export function getDay(at: number): number {
  return listDays(new Date(at), 1)[0]?.start ?? at;
}

export function groupBy<Value>(
  values: readonly Value[],
  getKey: (value: Value) => string,
): ReadonlyMap<string, readonly Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = getKey(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const OWN_CLOCK = new Intl.DateTimeFormat(undefined, CLOCK);

/** `Mon 30 Nov` */
export function formatDay(day: number): string {
  return DAY.format(day);
}

/** `09:05`, in the zone of the reader. */
export function formatClock(at: number): string {
  return OWN_CLOCK.format(at);
}

interface ZoneFormats {
  readonly clock: Intl.DateTimeFormat;
  readonly weekday: Intl.DateTimeFormat;
}

/** Creating a format takes milliseconds. */
const zones = new Map<string, ZoneFormats | undefined>();

function getZoneFormats(zone: string): ZoneFormats | undefined {
  if (!zones.has(zone)) zones.set(zone, createZoneFormats(zone));
  return zones.get(zone);
}

function createZoneFormats(zone: string): ZoneFormats | undefined {
  try {
    return {
      clock: new Intl.DateTimeFormat(undefined, { ...CLOCK, timeZone: zone }),
      weekday: new Intl.DateTimeFormat(undefined, { weekday: "short", timeZone: zone }),
    };
  } catch {
    return undefined; // the server has a zone that this browser lacks
  }
}

const OWN_WEEKDAY = new Intl.DateTimeFormat(undefined, { weekday: "short" });

/** `03:05 Asia/Tokyo`, with the day of the week if it is another one; `undefined` if the clocks show the same. */
export function formatZoneClock(at: number, zone: string): string | undefined {
  const formats = getZoneFormats(zone);
  if (formats === undefined) return zone;
  const [clock, weekday] = [formats.clock.format(at), formats.weekday.format(at)];
  const isSameDay = weekday === OWN_WEEKDAY.format(at);
  if (isSameDay && clock === OWN_CLOCK.format(at)) return undefined;
  return `${isSameDay ? "" : `${weekday} `}${clock} ${zone}`;
}

/** `Mon 30 Nov, 09:05 Europe/Berlin`, by the clock of a zone. */
export function formatZoneTime(at: number, zone: string): string {
  const day = { weekday: "short", day: "numeric", month: "short" } as const;
  try {
    return `${new Intl.DateTimeFormat(undefined, { ...day, ...CLOCK, timeZone: zone }).format(at)} ${zone}`;
  } catch {
    return `${new Date(at).toISOString()} (${zone})`;
  }
}
