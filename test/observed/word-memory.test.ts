import { expect, test } from "vitest";
import { createSearchFeedback } from "../../src/observed/search-feedback.ts";
import { getObservedWeight } from "../../src/registry/search/weights.ts";
import { createWordMemory } from "../../src/observed/word-memory.ts";

const answer = (...paths: readonly string[]) => ({
  results: paths.map((path) => ({ path, signature: "", summary: "", score: 0.9 })),
  text: "",
});

test("keeps the newest words of a method, up to a limit [D1]", () => {
  const memory = createWordMemory();
  for (let at = 0; at < 100; at++) memory.teach("A.b", [`word${at}`]);
  const [entry] = memory.entries();
  expect(entry?.words).toHaveLength(64);
  expect(entry?.words.at(-1)).toBe("word99");
  expect(memory.methodsWith("word0")).toEqual([]);
  expect(memory.methodsWith("word99")).toEqual([{ path: "A.b", times: 1, words: 64 }]);
});

test("limits the weight of a word that is observed repeatedly [D1]", () => {
  const memory = createWordMemory();
  for (let at = 0; at < 100; at++) memory.teach("A.b", ["again"]);
  expect(memory.methodsWith("again")).toEqual([{ path: "A.b", times: 4, words: 4 }]);
});

test("limits the methods of a caller, and ignores a word that leads to all of them [D1]", () => {
  const memory = createWordMemory();
  for (let at = 0; at < 600; at++) memory.teach(`A.m${at}`, ["common", `own${at}`]);
  expect(memory.entries()).toHaveLength(500);
  expect(memory.methodsWith("common")).toEqual([]);
  expect(memory.methodsWith("own599")).toEqual([{ path: "A.m599", times: 1, words: 2 }]);
  expect(memory.methodsWith("own0")).toEqual([]);
});

test("forgets the least recently active callers first [D1]", () => {
  const requests = createSearchFeedback();
  for (let at = 0; at < 150; at++) {
    requests.searched(`caller${at}`, "lasagna", answer());
    requests.called(`caller${at}`, "A.b");
    expect(requests.getWords(`caller${at}`).methodsWith("lasagna")).toHaveLength(1);
  }
  expect(requests.getWords("caller0").methodsWith("lasagna")).toEqual([]);
  expect(requests.getWords("caller149").methodsWith("lasagna")).toHaveLength(1);
});

test("does not assign a call to an expired search [D1]", () => {
  let time = 0;
  const requests = createSearchFeedback(() => time);
  requests.searched("ada", "lasagna", answer());
  time += 600_001;
  requests.called("ada", "A.b");
  expect(requests.getWords("ada").entries()).toEqual([]);
});

test("observes nothing from many calls that no search listed [D1]", () => {
  const requests = createSearchFeedback();
  requests.searched("ada", "lasagna", answer("X.y"));
  for (const path of ["A.a", "A.b", "A.c", "A.d"]) requests.called("ada", path);
  expect(requests.getWords("ada").entries()).toEqual([]);
});

test("assigns the words of an empty search to the result of the next successful one [D1]", () => {
  const requests = createSearchFeedback();
  requests.searched("ada", "lasagna", answer());
  requests.searched("ada", "heat oven", answer("Kitchen.heat", "Kitchen.chill"));
  requests.called("ada", "Kitchen.heat");
  expect(requests.getWords("ada").entries()).toEqual([{ path: "Kitchen.heat", words: ["lasagna", "heat", "oven"] }]);
});

test("ignores a search that listed something else and was followed by others [D1]", () => {
  const requests = createSearchFeedback();
  requests.searched("ada", "send letter", answer("Mail.send"));
  requests.searched("ada", "heat oven", answer("Kitchen.heat"));
  requests.called("ada", "Kitchen.heat");
  expect(requests.getWords("ada").entries()).toEqual([{ path: "Kitchen.heat", words: ["heat", "oven"] }]);
  requests.called("ada", "Mail.send");
  expect(requests.getWords("ada").entries()).toContainEqual({ path: "Mail.send", words: ["send", "letter"] });
});

test("ignores a word that stands for more than 40 methods [D1]", () => {
  const memory = createWordMemory();
  for (let at = 0; at < 40; at++) memory.teach(`A.m${at}`, ["help"]);
  expect([memory.size, memory.methodsWith("help").length]).toEqual([40, 40]);
  memory.teach("A.m40", ["help"]);
  expect([memory.size, memory.methodsWith("help").length]).toEqual([41, 0]);
});

test("assigns the words of a search also to a call that it did not list [D1]", () => {
  const requests = createSearchFeedback();
  requests.searched("ada", "weather mail", answer("Sky.weather"));
  requests.called("ada", "Sky.weather");
  requests.called("ada", "Post.deliver");
  expect(requests.getWords("ada").entries()).toEqual([
    { path: "Sky.weather", words: ["weather", "mail"] },
    { path: "Post.deliver", words: ["weather", "mail"] },
  ]);
});

test("lowers the weight of an observed word with the number of methods that it stands for [D1]", () => {
  expect([1, 2, 5, 20].map((meanings) => getObservedWeight(meanings, 20).toFixed(3))).toEqual([
    "0.700",
    "0.455",
    "0.180",
    "0.000",
  ]);
});
