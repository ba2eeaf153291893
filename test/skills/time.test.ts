import { describe, expect, test } from "vitest";
import { TimeSkill } from "../../skills/time.ts";

const WINTER = "2025-01-15T14:30:00.999Z";
const SUMMER = "2025-07-05T00:05:09Z";

describe("supports the four formats [B2]", () => {
  const skill = at(WINTER);

  test("writes full as a sentence [B2]", () => {
    expect(skill.get_time("Asia/Tokyo")).toBe("Wednesday, January 15, 2025 at 11:30 PM JST");
    expect(skill.get_time("Asia/Tokyo", "full")).toBe("Wednesday, January 15, 2025 at 11:30 PM JST");
    expect(at(SUMMER).get_time("UTC", "full")).toBe("Saturday, July 5, 2025 at 12:05 AM UTC");
  });

  test("writes date, time and iso for machines [B2]", () => {
    expect(skill.get_time("Asia/Tokyo", "date")).toBe("2025-01-15");
    expect(skill.get_time("Asia/Tokyo", "time")).toBe("23:30:00 JST");
    expect(skill.get_time("Asia/Tokyo", "iso")).toBe("2025-01-15T23:30:00+09:00");
  });

  test("uses UTC in full by default [B2]", () => {
    expect(skill.get_time()).toBe("Wednesday, January 15, 2025 at 2:30 PM UTC");
    expect(skill.get_time(undefined, "iso")).toBe("2025-01-15T14:30:00+00:00");
  });

  test("uses the current time without a given clock [B2]", () => {
    const before = Date.now();
    const told = Date.parse(new TimeSkill().get_time("America/New_York", "iso"));
    expect(told).toBeGreaterThan(before - 1000);
    expect(told).toBeLessThanOrEqual(Date.now());
  });
});

test.each([
  ["America/New_York", "09:30:00 EST", "20:05:09 EDT"],
  ["America/Los_Angeles", "06:30:00 PST", "17:05:09 PDT"],
  ["America/Chicago", "08:30:00 CST", "19:05:09 CDT"],
  ["America/Phoenix", "07:30:00 MST", "17:05:09 MST"],
  ["America/St_Johns", "11:00:00 NST", "21:35:09 NDT"],
  ["Europe/London", "14:30:00 GMT", "01:05:09 BST"],
  ["Europe/Dublin", "14:30:00 GMT", "01:05:09 IST"],
  ["Europe/Berlin", "15:30:00 CET", "02:05:09 CEST"],
  ["Europe/Kyiv", "16:30:00 EET", "03:05:09 EEST"],
  ["Europe/Moscow", "17:30:00 MSK", "03:05:09 MSK"],
  ["Africa/Johannesburg", "16:30:00 SAST", "02:05:09 SAST"],
  ["Asia/Kolkata", "20:00:00 IST", "05:35:09 IST"],
  ["Asia/Shanghai", "22:30:00 CST", "08:05:09 CST"],
  ["Australia/Sydney", "01:30:00 AEDT", "10:05:09 AEST"],
  ["Pacific/Auckland", "03:30:00 NZDT", "12:05:09 NZST"],
  ["Asia/Dubai", "18:30:00 +04:00", "04:05:09 +04:00"],
  ["Asia/Kathmandu", "20:15:00 +05:45", "05:50:09 +05:45"],
  ["America/Sao_Paulo", "11:30:00 -03:00", "21:05:09 -03:00"],
  ["Etc/GMT+5", "09:30:00 -05:00", "19:05:09 -05:00"],
  ["asia/tokyo", "23:30:00 JST", "09:05:09 JST"],
])("names the time of %s, in winter and in summer [B2]", (timezone, winter, summer) => {
  expect(at(WINTER).get_time(timezone, "time")).toBe(winter);
  expect(at(SUMMER).get_time(timezone, "time")).toBe(summer);
});

test("begins and ends summer time at its hour [B2]", () => {
  expect(at("2025-03-30T00:59:59Z").get_time("Europe/Berlin", "iso")).toBe("2025-03-30T01:59:59+01:00");
  expect(at("2025-03-30T01:00:00Z").get_time("Europe/Berlin", "iso")).toBe("2025-03-30T03:00:00+02:00");
  expect(at("2025-11-02T05:59:59Z").get_time("America/New_York", "time")).toBe("01:59:59 EDT");
  expect(at("2025-11-02T06:00:00Z").get_time("America/New_York", "time")).toBe("01:00:00 EST");
});

test("uses the date of the zone [B2]", () => {
  expect(at("2024-12-31T23:00:00Z").get_time("Asia/Tokyo", "date")).toBe("2025-01-01");
  expect(at("2024-03-01T02:00:00Z").get_time("America/New_York", "date")).toBe("2024-02-29");
});

test.each(["", " ", "Nowhere/City", "../etc/passwd", "/etc/localtime", "Asia/", "Asia/Tokyo\0", "constructor"])(
  "refuses %j as a time zone [B2]",
  (timezone) => {
    expect(() => at(WINTER).get_time(timezone)).toThrow(new Error(`Unknown timezone: ${timezone}`));
  },
);

function at(moment: string): TimeSkill {
  return new TimeSkill(() => new Date(moment));
}
