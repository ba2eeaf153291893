/** The method that every sample skill of sums has. */
export const ADD = {
  description: "Add two numbers",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  } as const,
  run: async ({ a, b }: { a: number; b: number }) => a + b,
};
