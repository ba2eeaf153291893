import { describe } from "vitest";

import { testAttacks } from "../support/attack-tests.ts";

describe("S6 S7 P2: attacks end as they should", () => testAttacks(1));
