/** Tells the time anywhere. */
export class TimeSkill {
  readonly #now: () => Date;

  constructor(now: () => Date = () => new Date()) {
    this.#now = now;
  }

  /**
   * Get the current date and time in a time zone.
   *
   * @param timezone Name of a time zone (e.g., 'UTC', 'Asia/Tokyo', 'America/New_York')
   * @param format full ("Wednesday, January 15, 2025 at 11:30 PM JST"), date ("2025-01-15"), time ("23:30:00 JST") or iso
   * @returns The time as text, in the form that was asked for
   * @category utility
   * @readonly
   * @example device.TimeSkill.get_time("Asia/Tokyo", "time")
   */
  get_time(timezone: string = "UTC", format: "full" | "date" | "time" | "iso" = "full"): string {
    const now = this.#now();
    const zone = canonicalZone(timezone);
    if (zone === undefined) throw new Error(`Unknown timezone: ${timezone}`);
    const offset = getUtcOffset(zone, now);
    const local = localTime(now, offset);
    const texts = {
      full: () => `${inWords(zone, now)} ${abbreviation(zone, offset)}`,
      date: () => local.slice(0, "2025-01-15".length),
      time: () => `${local.slice("2025-01-15T".length)} ${abbreviation(zone, offset)}`,
      iso: () => `${local}${offset}`,
    };
    return texts[format]();
  }
}

/** Returns the `Intl` name of a zone, `Asia/Tokyo` for `asia/tokyo`; `undefined` if it is not a zone. */
function canonicalZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    // Intl throws a RangeError for an unknown zone.
    return undefined;
  }
}

/** Returns the offset of a zone at a moment: `+09:00`. */
function getUtcOffset(zone: string, now: Date): string {
  const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(now);
  const name = parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
  // Intl writes a zero offset as a bare "GMT", which leaves an empty text.
  return name.slice("GMT".length) || "+00:00";
}

/** `2025-01-15T23:30:00`: the moment, moved by the offset and read as if it were in UTC. */
function localTime(now: Date, offset: string): string {
  const asUtc = new Date(`${now.toISOString().slice(0, -1)}${offset.startsWith("-") ? "+" : "-"}${offset.slice(1)}`);
  return asUtc.toISOString().slice(0, "2025-01-15T23:30:00".length);
}

/** `Wednesday, January 15, 2025 at 11:30 PM`, put together here because the words between the parts change with ICU. */
function inWords(zone: string, now: Date): string {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "long",
    month: "long",
    day: "numeric",
    year: "numeric",
    hour: "numeric",
    minute: "2-digit",
    hour12: true,
  });
  const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  return `${part["weekday"]}, ${part["month"]} ${part["day"]}, ${part["year"]} at ${part["hour"]}:${part["minute"]} ${part["dayPeriod"]}`;
}

/** Returns the common abbreviation of a zone's time, or the offset if it has none. */
function abbreviation(zone: string, offset: string): string {
  const common = ABBREVIATIONS.find(({ zones }) => zones.split(/\s+/).includes(zone));
  return common?.names[offset] ?? offset;
}

/** Abbreviations by offset, which covers summer time. Only common zones are listed; more can be added. */
const ABBREVIATIONS: readonly { readonly names: Readonly<Record<string, string>>; readonly zones: string }[] = [
  { names: { "+00:00": "UTC" }, zones: "UTC Etc/UTC" },
  { names: { "-10:00": "HST" }, zones: "Pacific/Honolulu US/Hawaii" },
  { names: { "-09:00": "AKST", "-08:00": "AKDT" }, zones: "America/Anchorage America/Juneau US/Alaska" },
  {
    names: { "-08:00": "PST", "-07:00": "PDT" },
    zones: "America/Los_Angeles America/Vancouver America/Tijuana US/Pacific",
  },
  {
    names: { "-07:00": "MST", "-06:00": "MDT" },
    zones: "America/Denver America/Boise America/Edmonton America/Phoenix US/Arizona US/Mountain",
  },
  {
    names: { "-06:00": "CST", "-05:00": "CDT" },
    zones: `America/Chicago America/Winnipeg America/Mexico_City America/Costa_Rica America/Guatemala
      America/El_Salvador America/Tegucigalpa America/Managua US/Central`,
  },
  {
    names: { "-05:00": "EST", "-04:00": "EDT" },
    zones: `America/New_York America/Toronto America/Detroit America/Indianapolis America/Indiana/Indianapolis
      America/Panama America/Jamaica EST US/Eastern`,
  },
  { names: { "-04:00": "AST", "-03:00": "ADT" }, zones: "America/Halifax America/Puerto_Rico Atlantic/Bermuda" },
  { names: { "-03:30": "NST", "-02:30": "NDT" }, zones: "America/St_Johns" },
  { names: { "+00:00": "GMT" }, zones: "GMT Etc/GMT Africa/Abidjan Africa/Accra Africa/Dakar Atlantic/Reykjavik" },
  { names: { "+00:00": "GMT", "+01:00": "BST" }, zones: "Europe/London" },
  { names: { "+00:00": "GMT", "+01:00": "IST" }, zones: "Europe/Dublin" },
  { names: { "+00:00": "WET", "+01:00": "WEST" }, zones: "Europe/Lisbon Atlantic/Canary Atlantic/Madeira WET" },
  {
    names: { "+01:00": "CET", "+02:00": "CEST" },
    zones: `Europe/Amsterdam Europe/Andorra Europe/Belgrade Europe/Berlin Europe/Bratislava Europe/Brussels
      Europe/Budapest Europe/Copenhagen Europe/Gibraltar Europe/Ljubljana Europe/Luxembourg Europe/Madrid Europe/Malta
      Europe/Monaco Europe/Oslo Europe/Paris Europe/Podgorica Europe/Prague Europe/Rome Europe/San_Marino
      Europe/Sarajevo Europe/Skopje Europe/Stockholm Europe/Tirane Europe/Vaduz Europe/Vatican Europe/Vienna
      Europe/Warsaw Europe/Zagreb Europe/Zurich Africa/Algiers Africa/Tunis CET`,
  },
  {
    names: { "+02:00": "EET", "+03:00": "EEST" },
    zones: `Europe/Athens Europe/Bucharest Europe/Chisinau Europe/Helsinki Europe/Kiev Europe/Kyiv Europe/Mariehamn
      Europe/Riga Europe/Sofia Europe/Tallinn Europe/Vilnius Asia/Beirut Asia/Nicosia Africa/Cairo Africa/Tripoli EET`,
  },
  { names: { "+02:00": "IST", "+03:00": "IDT" }, zones: "Asia/Jerusalem Asia/Tel_Aviv" },
  { names: { "+03:00": "MSK" }, zones: "Europe/Moscow Europe/Simferopol" },
  { names: { "+01:00": "WAT" }, zones: "Africa/Lagos Africa/Kinshasa Africa/Luanda" },
  { names: { "+02:00": "CAT" }, zones: "Africa/Maputo Africa/Harare Africa/Khartoum Africa/Lusaka" },
  { names: { "+02:00": "SAST" }, zones: "Africa/Johannesburg" },
  { names: { "+03:00": "EAT" }, zones: "Africa/Nairobi Africa/Addis_Ababa Africa/Dar_es_Salaam Africa/Kampala" },
  { names: { "+05:00": "PKT" }, zones: "Asia/Karachi" },
  { names: { "+05:30": "IST" }, zones: "Asia/Kolkata Asia/Calcutta" },
  { names: { "+07:00": "WIB" }, zones: "Asia/Jakarta" },
  { names: { "+08:00": "CST" }, zones: "Asia/Shanghai Asia/Taipei Asia/Macau" },
  { names: { "+08:00": "HKT" }, zones: "Asia/Hong_Kong" },
  { names: { "+08:00": "PST" }, zones: "Asia/Manila" },
  { names: { "+08:00": "AWST" }, zones: "Australia/Perth" },
  { names: { "+09:00": "JST" }, zones: "Asia/Tokyo Japan" },
  { names: { "+09:00": "KST" }, zones: "Asia/Seoul" },
  { names: { "+09:30": "ACST", "+10:30": "ACDT" }, zones: "Australia/Adelaide Australia/Darwin" },
  {
    names: { "+10:00": "AEST", "+11:00": "AEDT" },
    zones: "Australia/Sydney Australia/Melbourne Australia/Brisbane Australia/Hobart Australia/Canberra",
  },
  { names: { "+12:00": "NZST", "+13:00": "NZDT" }, zones: "Pacific/Auckland" },
];
