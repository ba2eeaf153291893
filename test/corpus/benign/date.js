//# fixed-date-arithmetic {"intent":"fixed date arithmetic","result":"2026-03-02","calls":1,"tools":["TimeSkill.now"]}
const now = new Date(await device.TimeSkill.now());
const tomorrow = new Date(now.getTime() + 24 * 60 * 60 * 1000);
return tomorrow.toISOString().slice(0, 10);

//# difference-in-days {"intent":"days between two dates","result":[59,2,1798675200000],"calls":1}
const days = (a, b) => Math.round((Date.parse(b) - Date.parse(a)) / 86_400_000);
const now = await device.TimeSkill.now();
return [days("2026-01-01", now.slice(0, 10)), days("2024-02-28", "2024-03-01"), Date.UTC(2026, 11, 31)];

//# meetings-of-a-day {"intent":"minutes of all meetings and their ends","result":["Standup 09:00-09:15","Design review 11:00-12:00","1:1 15:00-15:30"],"calls":1}
const events = await device.CalendarMCP.list_events({ date: "2026-03-01" });
return events.map(({ title, start, durationMin }) => {
  const end = new Date(Date.parse(`2026-03-01T${start}:00Z`) + durationMin * 60_000);
  return `${title} ${start}-${end.toISOString().slice(11, 16)}`;
});

//# offsets {"intent":"offsets in the text of a date","result":["2026-02-28T15:00:00.000Z",true,"1970-01-02T00:00:00.000Z"],"calls":0}
return [new Date("2026-03-01T00:00:00+09:00").toISOString(), new Date("2026-03-01").getTime() === Date.parse("2026-03-01T00:00:00.000Z"), new Date(86400000).toJSON()];

//# utc-parts {"intent":"parts of a date in UTC","result":[2026,2,1,0,12,34,56,789,1772368496789,"2026-03-01T12:34:56.789Z"],"calls":0}
const d = new Date("2026-03-01T12:34:56.789Z");
return [d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCDay(), d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds(), d.getUTCMilliseconds(), d.getTime(), d.toISOString()];

//# weekday-and-overflow {"intent":"weekdays, month overflow, invalid dates","result":["Sun","2026-03-03",true,"{\"d\":\"1970-01-01T00:00:00.000Z\"}",true],"calls":0}
const names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const d = new Date(Date.UTC(2026, 0, 31));
d.setUTCMonth(d.getUTCMonth() + 1);
return [names[new Date("2026-03-01T00:00:00Z").getUTCDay()], d.toISOString().slice(0, 10), isNaN(new Date("no date")), JSON.stringify({ d: new Date(0) }), new Date(2026, 1, 29) instanceof Date];

//# formats-of-a-locale {"intent":"dates and numbers as text, with a locale and options","result":["Sunday, March 1, 2026","01/03/2026","13:34","$1,234.50","1,234.568","UTC"],"calls":0}
const d = new Date("2026-03-01T12:34:56.789Z");
return [
  d.toLocaleDateString("en-US", { weekday: "long", year: "numeric", month: "long", day: "numeric" }),
  d.toLocaleDateString("en-GB"),
  d.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: "Europe/Berlin" }),
  (1234.5).toLocaleString("en-US", { style: "currency", currency: "USD" }),
  new Intl.NumberFormat("en-US").format(1234.5678),
  Intl.DateTimeFormat().resolvedOptions().timeZone,
];
