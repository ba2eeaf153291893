import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { getPageMeta } from "../addresses/pages.ts";
import { Rewriting } from "../addresses/rewrite.ts";
import type { Features } from "../features/caller-features.ts";
import { type Exposure, getOfferedTools } from "./tool-exposure.ts";

/** Lists the tools of a caller, with the addresses of their pages as clients read them. */
export function listTools(features: Features, view: RuntimeView, exposure: Exposure): readonly ToolDefinition[] {
  const offered = getOfferedTools(view, exposure);
  return offered.tools.map((tool) => {
    const method = getPageMeta(tool._meta) && offered.find(tool.name)?.method;
    const skill = method && view.catalog.skill(method.skill);
    return skill === undefined ? tool : new Rewriting(features.getAddresses(view), skill).result(tool);
  });
}
