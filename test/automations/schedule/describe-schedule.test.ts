import { expect, test } from "vitest";

import { describeSchedule, formatZoneTime, getScheduleZone } from "../../../src/automations/schedule/index.ts";
import { parse } from "./sample.ts";

test.each([
  ["* * * * *", "every minute"],
  ["*/5 * * * *", "every 5 minutes"],
  ["0 * * * *", "every hour"],
  ["7,20 * * * *", "at the minutes 7, 20 of every hour"],
  ["0 9 * * MON-FRI", "at 09:00, Monday to Friday, in Europe/Berlin"],
  ["30 8,17 * * *", "at 08:30 and 17:30, every day, in Europe/Berlin"],
  ["*/10 9-17 * * SUN,WED", "every 10 minutes of the hours 9 to 17, Sunday and Wednesday, in Europe/Berlin"],
  ["5,15 9-17 * * *", "at the minutes 5, 15 of the hours 9 to 17, every day, in Europe/Berlin"],
  ["0 0 1,15 * *", "at 00:00, on day 1, 15 of the month, in Europe/Berlin"],
  ["0 0 13 * FRI", "at 00:00, on day 13 of the month or Friday, in Europe/Berlin"],
  ["0 6 1 JAN,JUL *", "at 06:00, on day 1 of the month, in January and July, in Europe/Berlin"],
  ["15 * * * MON", "at minute 15 of every hour, Monday, in Europe/Berlin"],
])("describes %s", (cron, words) => {
  expect(describeSchedule(parse({ cron, zone: "Europe/Berlin" }))).toBe(words);
});

test("describes a period, and shows times by the clock of the zone", () => {
  expect(describeSchedule(parse({ every: "5m" }))).toBe("every 5m");
  expect(getScheduleZone(parse({ every: "5m" }))).toBe("UTC");
  const zone = getScheduleZone(parse({ cron: "0 9 * * *", zone: "Asia/Tokyo" }));
  expect(formatZoneTime(Date.UTC(2026, 10, 30, 15, 5), zone)).toBe("Tue 2026-12-01 00:05");
});
