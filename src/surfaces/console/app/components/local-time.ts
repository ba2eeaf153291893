/** Returns milliseconds since 1970 in the form of the browser's field for times, in the zone of the reader. */
export function toLocalTime(milliseconds: string | undefined): string {
  const date = new Date(Number(milliseconds));
  if (milliseconds === "" || Number.isNaN(date.getTime())) return "";
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Returns the time of such a field in milliseconds since 1970; empty for an empty field. */
export function toMilliseconds(local: string): string {
  const time = new Date(local).getTime();
  return Number.isNaN(time) ? "" : String(time);
}
