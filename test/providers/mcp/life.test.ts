import { expect, test } from "vitest";

import { call, connected, ended, fixture, until } from "./servers.ts";

/** Restarts as usual, only sooner. */
const SOON = { firstDelayMs: 10, longestDelayMs: 40 };

test("M4: a server that dies in mid-call fails its calls, and is started again", async () => {
  const provider = await connected([fixture()], { restart: SOON });
  const first = await call(provider, "pid");
  const bystander = call(provider, "never");
  const facts = { server: "fixture", tool: "die", skill: "FixtureMCP", method: "die", error: "exited with code 3" };
  const message = 'Cannot reach the server of this skill: "fixture" exited with code 3 (SERVER_GONE)';
  await expect(call(provider, "die")).rejects.toMatchObject({ code: "SERVER_GONE", message, facts });
  await expect(bystander).rejects.toMatchObject({
    code: "SERVER_GONE",
    facts: { tool: "never", error: "exited with code 3" },
  });
  expect(provider.servers[0]).toMatchObject({ status: "disconnected", error: "exited with code 3" });
  expect(provider.problems).toEqual([{ source: "fixture", error: "exited with code 3" }]);
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "pid")).not.toBe(first);
  expect(provider.problems).toEqual([]);
});

test("M4: while a server is down its skill stays, and its calls fail at once", async () => {
  const provider = await connected([fixture()], { restart: { firstDelayMs: 3_600_000, longestDelayMs: 3_600_000 } });
  const [skill] = provider.skills;
  await call(provider, "die").catch(() => {});
  expect(provider.skills).toEqual([skill]);
  await expect(call(provider, "echo", { message: "hi" })).rejects.toMatchObject({
    code: "SERVER_GONE",
    facts: { server: "fixture", tool: "echo", error: "is disconnected" },
  });
});

test("M4: a restarted server with the same tools keeps its skill", async () => {
  const provider = await connected([fixture()], { restart: SOON });
  const [skill] = provider.skills;
  await call(provider, "die").catch(() => {});
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(provider.skills[0]).toBe(skill);
});

test("M4: a server that dies again and again is given up", async () => {
  const provider = await connected([fixture()], { restart: { ...SOON, times: 2 } });
  for (const restart of [1, 2, 3]) {
    await call(provider, "die").catch(() => {});
    if (restart < 3) await until(provider, () => provider.servers[0]?.status === "connected");
  }
  expect(provider.servers[0]).toMatchObject({ status: "error", error: "exited with code 3, after too many restarts" });
  expect(provider.skills).toEqual([]);
});

test("M4: the last answer of a server that exits is taken", async () => {
  const provider = await connected([fixture()], { restart: SOON });
  expect(await call(provider, "die_after_answer")).toBe("last words");
});

test("M4: a server that closes its output is stopped and started again", async () => {
  const provider = await connected([fixture()], { restart: SOON });
  await expect(call(provider, "close_stdout")).rejects.toMatchObject({ code: "SERVER_GONE" });
  await until(provider, () => provider.servers[0]?.status === "connected");
  expect(await call(provider, "echo", { message: "back" })).toBe("back");
});

test("M3: tools that come at run time are there after list_changed", async () => {
  for (const ways of [[], ["modern"]]) {
    const provider = await connected([fixture(ways)]);
    const before = provider.skills[0];
    await call(provider, "add_tool");
    await until(provider, () => provider.skills[0] !== before);
    expect(provider.skills[0]?.methods.at(-1)?.name).toBe("added");
    expect(await call(provider, "added")).toBe("called added");
  }
});

test("M3: a server that announces a change at each question is not asked without end", async () => {
  const provider = await connected([fixture(["change-on-list"])]);
  expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
});

test("M3: a list that has outlived its time is asked for again at the next call", async () => {
  const provider = await connected([fixture(["modern", "short-lived"])]);
  const before = provider.skills[0];
  while (provider.skills[0] === before) await call(provider, "echo", { message: "hi" });
  expect(provider.skills[0]?.methods.at(-1)?.name).toBe("list_2");
});

test("M9: closing stops a server by the end of its input", async () => {
  const provider = await connected([fixture()]);
  const pid = Number(await call(provider, "pid"));
  await provider.close();
  await ended(pid);
  await expect(call(provider, "echo")).rejects.toMatchObject({ code: "SERVER_GONE" });
});

test("M9: closing stops a stubborn server, and what it has started, after the grace", async () => {
  const provider = await connected([fixture(["stubborn"])]);
  const pids = [Number(await call(provider, "pid")), Number(await call(provider, "grandchild"))];
  await provider.close();
  await Promise.all(pids.map(ended));
});

test("M9: a server that dies leaves nothing behind", async () => {
  const provider = await connected([fixture()], { restart: SOON });
  const grandchild = Number(await call(provider, "grandchild"));
  await call(provider, "die").catch(() => {});
  await provider.close();
  await ended(grandchild);
});

test("M9: closing while servers start stops them", async () => {
  const provider = connected([fixture(["hang"])]);
  const closing = new AbortController();
  const other = connected([fixture(["hang"])], { signal: closing.signal });
  closing.abort();
  expect((await other).servers[0]).toMatchObject({ status: "error" });
  void provider.then((opened) => opened.close());
});

test("M3: servers start side by side, and one that fails or is switched off holds up nobody", async () => {
  const servers = [
    { ...fixture(["hang"]), name: "slow" },
    fixture(),
    { ...fixture(["exit-at-start"]), name: "broken" },
    { ...fixture(), name: "off", enabled: false },
    { ...fixture(), name: "poor", obstacle: "missing environment variable API_KEY" },
  ];
  const provider = await connected(servers, { connectTimeoutMs: 2_000 });
  expect(provider.servers.map(({ name, skill, status }) => [name, skill, status])).toEqual([
    ["slow", "SlowMCP", "error"],
    ["fixture", "FixtureMCP", "connected"],
    ["broken", "BrokenMCP", "error"],
    ["off", "OffMCP", "disabled"],
    ["poor", "PoorMCP", "error"],
  ]);
  expect(provider.problems.at(-1)).toEqual({ source: "poor", error: "missing environment variable API_KEY" });
  await provider.close();
});
