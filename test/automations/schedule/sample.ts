import { parseSchedule, type Schedule } from "../../../src/automations/schedule/index.ts";

/** Parses a schedule as the file of an automation has it. */
export function parse(value: unknown): Schedule {
  return parseSchedule(value, (why) => new Error(why));
}

/** Returns the times of slots as RFC 3339 without seconds, in UTC: `2027-03-28T01:00Z`. */
export function toTexts(slots: readonly number[]): readonly string[] {
  return slots.map((slot) => new Date(slot).toISOString().replace(":00.000Z", "Z"));
}

/** Zones with odd changes of the clock, each with a year of them. */
export const ODD_ZONES = [
  ["Europe/Berlin", 2026],
  ["America/New_York", 2027],
  ["Australia/Lord_Howe", 2026], // by half an hour
  ["Pacific/Chatham", 2026], // 12:45 from UTC
  ["Africa/Casablanca", 2026], // back during Ramadan
  ["Pacific/Apia", 2011], // without 30 December
  ["America/Nuuk", 2026], // the hour before midnight is left out
  ["America/Sao_Paulo", 2018], // the hour after midnight is left out
  ["Africa/Cairo", 2014], // four changes in a year
  ["Antarctica/Troll", 2026], // by two hours
  ["Asia/Kathmandu", 2026], // 5:45 from UTC
  ["Etc/GMT+5", 2026],
] as const;
