import type { Client } from "../../model/client-requests.ts";
import { formatOrigin } from "../../model/origin.ts";
import { isRecord } from "../../model/json.ts";
import { countSpaces, escapeInvisible } from "../../shared/visible-text.ts";
import type { RunOptions } from "../../runtime.ts";
import { toJson } from "./to-json.ts";

/** Maximum characters of arguments shown to the user. A longer call is denied: the user could not see all of it. */
const SHOWN_CHARACTERS = 4_000;

/** Asks the user at the client to approve calls. If the client cannot ask, the runtime's own approval applies. */
export function approveBy(client: Client): Pick<RunOptions, "approve"> {
  if (!client.can("elicitation/create")) return {};
  return {
    approve: async ({ path, input, origins = [] }) => {
      // Escaped, so that arguments cannot imitate the text around them.
      const visible = escapeInvisible(toJson(input));
      if (visible.length > SHOWN_CHARACTERS) return false;
      const answer = await client.ask("elicitation/create", {
        message: [
          "Allow this call?",
          path,
          countSpaces(visible),
          ...origins.map((origin) => escapeInvisible(formatOrigin(origin))),
        ].join("\n"),
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
