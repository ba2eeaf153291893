import type { Client } from "../../model/client-requests.ts";
import { isRecord } from "../../model/json.ts";
import { countSpaces, escapeInvisible } from "../../shared/visible-text.ts";
import type { RunOptions } from "../../runtime.ts";
import { toJson } from "./to-json.ts";

/** Characters of arguments that a person is shown; more are refused, for nobody can approve what is not seen. */
const SHOWN_CHARACTERS = 4_000;

/** Lets the user at the client approve calls; without one who can be asked, the runtime's own way stays. */
export function approveBy(client: Client): Pick<RunOptions, "approve"> {
  if (!client.can("elicitation/create")) return {};
  return {
    approve: async ({ path, input }) => {
      // Nothing in the arguments can pretend to be something else.
      const shown = escapeInvisible(toJson(input));
      if (shown.length > SHOWN_CHARACTERS) return false;
      const answer = await client.ask("elicitation/create", {
        message: `Allow this call?\n${path}\n${countSpaces(shown)}`,
        requestedSchema: {
          type: "object",
          properties: { allow: { type: "boolean", title: "Allow this call", default: false } },
          required: ["allow"],
        },
      });
      return (
        isRecord(answer) &&
        answer["action"] === "accept" &&
        isRecord(answer["content"]) &&
        answer["content"]["allow"] === true
      );
    },
  };
}
