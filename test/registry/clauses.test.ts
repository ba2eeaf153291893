import { expect, test } from "vitest";

import { search } from "../../src/registry/index.ts";
import { splitClauses } from "../../src/registry/search/language/clauses.ts";
import { createCatalog, createSkill, sampleSkills } from "./catalogs.ts";

test.each([
  ["find the weather in Paris and send it by mail", ["find the weather in Paris", "send it by mail"]],
  ["create a repo, add a file, then invite Bob", ["create a repo", "add a file,", "invite Bob"]],
  ["Read the page. Also print it", ["Read the page", "print it"]],
  ["the pros and cons of solar, wind and water power", ["the pros and cons of solar, wind and water power"]],
  ["open example.com at 3.5 percent", ["open example.com at 3.5 percent"]],
  ["天気を調べる。メールを送る", ["天気を調べる", "メールを送る"]],
  ["fetch it\nand\n\tPRINT it", ["fetch it", "PRINT it"]],
])("splits %j where another task begins [D1]", (text, clauses) => {
  expect(splitClauses(text)).toEqual(clauses);
});

test("splits off at most fifteen clauses [S13]", () => {
  const clauses = splitClauses("read it. ".repeat(500));
  expect([clauses.length, clauses[14], clauses[15]?.length]).toEqual([16, "read it", 4_363]);
});

/** Five methods for each of two tasks; those for mail have more of the words of the query. */
const tools = createCatalog(
  createSkill(
    "SkySkill",
    ["now", "today", "hourly", "weekly", "monthly"].map((time) => ({ name: `weather_${time}` })),
  ),
  createSkill(
    "PostSkill",
    ["new", "reply", "draft", "copy", "list"].map((kind) => ({
      name: `send_mail_${kind}`,
      description: "Send a mail to a friend",
    })),
  ),
);

test("gives each clause of a request its share of the results [D1]", () => {
  const skillsFor = (query: string): string =>
    search(tools, query)
      .results.map(({ path }) => path.slice(0, 1))
      .join("");
  expect(skillsFor("find the weather and send a mail to a friend")).toBe("PSPSPSPS");
  expect(skillsFor("find the weather. send a mail to a friend")).toBe("PSPSPSPS");
  expect(skillsFor("weather mail to a friend")).toBe("PPPPPSSS");
});

test("finds one method for each of three clauses among the first three results [D1]", () => {
  const catalog = createCatalog(...sampleSkills());
  const query = "check the weather forecast, read a text file and send an email to Bob";
  const paths = search(catalog, query, { limit: 3 }).results.map(({ path }) => path);
  expect(paths.toSorted()).toEqual(["FilesystemMCP.read_text_file", "MailMCP.send_email", "WeatherMCP.get_forecast"]);
});
