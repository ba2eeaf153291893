// The resources and prompts that the conformance suite asks for.

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

const text = (words) => ({ type: "text", text: words });
const user = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });

const RESOURCES = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PNG },
  "test://watched-resource": { mimeType: "text/plain", text: "Watch this." },
};

const PROMPTS = {
  test_simple_prompt: () => user(text("This is a simple prompt for testing.")),
  test_prompt_with_arguments: ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  test_prompt_with_embedded_resource: ({ resourceUri }) =>
    user(
      {
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      },
      text("Please process the embedded resource above."),
    ),
  test_prompt_with_image: () =>
    user({ type: "image", data: PNG, mimeType: "image/png" }, text("Please analyze the image above.")),
  test_input_required_result_prompt: async (_args, { client }) => {
    const requestedSchema = { type: "object", properties: { context: { type: "string" } }, required: ["context"] };
    const message = "What context should the prompt use?";
    const { content } = await client.ask("elicitation/create", { message, requestedSchema }, "user_context");
    return user(text(`Use this context: ${content.context}`));
  },
};

const ARGUMENTS = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};

const TEMPLATE = "test://template/{id}/data";

export const OFFERS = {
  resources: Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({
    uri,
    name: uri.slice("test://".length),
    description: "For the conformance suite",
    mimeType,
  })),
  templates: [{ uriTemplate: TEMPLATE, name: "template", description: "Repeats an id", mimeType: "application/json" }],
  prompts: Object.keys(PROMPTS).map((name) => ({
    name,
    description: "For the conformance suite",
    arguments: (ARGUMENTS[name] ?? []).map((argument) => ({ name: argument, description: argument, required: true })),
  })),
  read: async (uri) => {
    const known = RESOURCES[uri];
    if (known !== undefined) return { contents: [{ uri, ...known }] };
    const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri);
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(data) }] };
  },
  prompt: async (name, args, context) => PROMPTS[name](args, context),
  subscribe: () => () => {},
  complete: async ({ argument }) => ({
    completion: { values: ["paris", "park", "party"].filter((word) => word.startsWith(argument.value)) },
  }),
};
