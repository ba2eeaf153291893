import { VERSION } from "../../shared/version.ts";

/** Name and version that the server reports to clients. */
export const IDENTITY = { name: "skillgate", title: "Skillgate", version: VERSION };
