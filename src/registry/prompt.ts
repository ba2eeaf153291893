import type { Catalog } from "../model/catalog.ts";
export interface PromptOptions {
  readonly mode?: "code" | "tools" | "native";
  readonly budgetTokens?: number;
  readonly template?: string;
}
export function systemPrompt(catalog: Catalog, _options: PromptOptions = {}): string {
  return catalog.skills.map((s) => s.name).join("\n");
}
