import { describe } from "vitest";

import { testAttacks } from "../support/attack-tests.ts";

describe("ends attacks as each header requires [S6, S7, P2]", () => testAttacks(0));
