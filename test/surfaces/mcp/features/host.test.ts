// @module-tag rest

import { join, resolve } from "node:path";
import { build } from "esbuild";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";

import type { Expose } from "../../../../src/model/tools/exposure.ts";
import { hasChromium, openPage, useBrowser } from "../../console/browser.ts";
import { serve } from "../../serving.ts";

useBrowser();

const PACKAGES = resolve("node_modules/@modelcontextprotocol");

/** Two official servers, whose pages have one address and whose tools one name. */
const mcpServers = Object.fromEntries(
  ["react", "vue"].map((name) => [
    name,
    { command: process.execPath, args: [join(PACKAGES, `server-basic-${name}/dist/index.js`), "--stdio"] },
  ]),
);

interface OpenHost {
  readonly page: Page;
  /** The calls of the tool of both servers, in order. */
  readonly calls: readonly string[];
  /** Calls a tool in the host, and shows its page. Returns the address of the page. */
  readonly show: (tool: string, input: object, title: string) => Promise<unknown>;
}

async function openHost(expose: Expose): Promise<OpenHost> {
  const { url, runtime } = await serve({ expose }, { skills: [], mcpServers });
  await runtime.ready;
  const calls: string[] = [];
  runtime.on("call", ({ path, outcome }) => void (path.endsWith("get_time") && calls.push(`${path} ${outcome}`)));
  const { page } = await openPage("about:blank");
  const { outputFiles } = await build({
    entryPoints: [resolve("test/fixtures/mcp/page-host.js")],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "warning",
  });
  const body = `<!doctype html><title>Host</title><body><script type="module">${outputFiles[0]!.text.replaceAll("</script", "<\\/script")}</script>`;
  await page.route(`${url}/host`, (route) => route.fulfill({ contentType: "text/html; charset=utf-8", body }));
  await page.goto(`${url}/host`);
  await page.waitForFunction("globalThis.show !== undefined");
  const show: OpenHost["show"] = (...args) => page.evaluate(`show(...${JSON.stringify(args)})`);
  return { page, calls, show };
}

/** Presses the button of a shown page, and waits for the time that its server answers. */
async function press(page: Page, title: string): Promise<void> {
  const frame = page.frameLocator(`iframe[title=${title}]`);
  const time = frame.locator("code").first();
  await expect.poll(() => time.textContent()).not.toBe("Loading...");
  const before = await time.textContent();
  await frame.getByRole("button", { name: "Get Server Time" }).click();
  await expect.poll(() => time.textContent()).not.toBe(before);
  expect(await time.textContent()).toMatch(/^\d{4}-/);
}

describe.skipIf(!hasChromium)("a host of the official library in a browser", () => {
  test("shows the pages of two servers with one address, whose buttons call their servers [M7]", async () => {
    const { page, calls, show } = await openHost("tools");
    expect(await show("ReactMCP__get_time", {}, "react")).toBe("ui://get-time/mcp-app.html");
    await press(page, "react");
    expect(await show("VueMCP__get_time", {}, "vue")).toBe("ui://vue.skillgate/get-time/mcp-app.html");
    await press(page, "vue");
    const react = "ReactMCP.get_time ok";
    const vue = "VueMCP.get_time ok";
    expect(calls).toEqual([react, react, vue, vue]);
    const texts = await Promise.all(
      ["react", "vue"].map((name) => page.frameLocator(`iframe[title=${name}]`).locator("html").innerHTML()),
    );
    expect(texts.map((text) => /data-v-[0-9a-f]/.test(text))).toEqual([false, true]);
  });

  test("shows the page of a call of a program, whose button calls its server [M7]", async () => {
    const { page, calls, show } = await openHost("code");
    const code = "await device.ReactMCP.get_time({}); return await device.VueMCP.get_time({})";
    expect(await show("run_code", { code }, "vue")).toBe("ui://vue.skillgate/get-time/mcp-app.html");
    await press(page, "vue");
    expect(calls).toEqual(["ReactMCP.get_time ok", "VueMCP.get_time ok", "VueMCP.get_time ok"]);
  });
});
