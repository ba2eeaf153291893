// @module-tag rest

import { describe, test } from "vitest";

import { hasChromium, useBrowser } from "./browser.ts";
import { visitPages } from "./visit-pages.ts";

useBrowser();

describe.skipIf(!hasChromium)("the pages of the console", () => {
  test("are accessible and have pictures in light colours [O2]", () => visitPages("light"));
});
