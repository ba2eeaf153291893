import { describe } from "vitest";

import { testAttacks } from "../support/attack-tests.ts";

describe("S6 S7 P2: ends attacks as each header requires (part 2)", () => testAttacks(1));
