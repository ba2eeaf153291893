import { relative } from "node:path";

import { isTextList } from "../../../model/json.ts";
import { writeSavedSkill } from "../../../runtime/saved/write-skill.ts";
import { toFileStem } from "../../../shared/names/file-stem.ts";
import { requireConfig } from "../config-files.ts";
import { invalidRequest } from "../problem.ts";
import { readObject, readText } from "../read-body.ts";
import type { SavedSkillFacts } from "../run-messages.ts";
import { requireAdmin } from "../security/guard.ts";
import type { AddConsoleApi } from "../services.ts";

const MAX_PARAMETERS = 50;

/** Adds the endpoint that makes a saved skill of a run. */
export const addRunSkillApi: AddConsoleApi = (api, { runtime, http, config }) => {
  api.post("/runs/:id/skill", async (c) => {
    const caller = c.get("caller");
    requireAdmin(caller, "write");
    const { id } = await runtime.runs.get(c.req.param("id"), { caller });
    const { options: project, skillsFolder: folder } = requireConfig(config);
    const body = await readObject(c, http);
    const name = readText(body, "name");
    const stem = toFileStem(name);
    if (stem === undefined) throw invalidRequest("name must be one or a few words, such as home office");
    const { description, parameters = [] } = body;
    if (!isTextList(parameters) || parameters.length > MAX_PARAMETERS)
      throw invalidRequest(`parameters must be a list of at most ${MAX_PARAMETERS} texts`);
    const saved = await writeSavedSkill(runtime, id, {
      stem,
      method: "run",
      description: typeof description === "string" && description !== "" ? description : undefined,
      parameters,
      folder,
      project,
      mayReplace: false,
      howToReplace: "remove it",
    });
    const facts = {
      path: `${saved.name}.run`,
      parameters: Object.keys(saved.parameters),
      file: relative(project.cwd, saved.files[0]),
    };
    return c.json(facts satisfies SavedSkillFacts, 201);
  });
};
