import { VERSION } from "../../shared/version.ts";

/** What clients are told that they speak to. */
export const IDENTITY = { name: "skillgate", title: "Skillgate", version: VERSION };
