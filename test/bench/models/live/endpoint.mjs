// Chats with a model over the protocol of OpenAI or that of Anthropic, by plain fetch.

const MAX_TOKENS = 4_096;
const VERSION = "2023-06-01";

/** Opens a conversation. `send` returns the text of the model, the calls that it asks for, and the tokens of the request. */
export function openChat({ api, url, key, model, system, tools }) {
  const { body, headers, path, read, append } = PROTOCOLS[api];
  const messages = [];
  return {
    say: (text) => messages.push({ role: "user", content: text }),
    answer: (results) => messages.push(...append(results)),
    async send() {
      const response = await fetch(`${url.replace(/\/$/, "")}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers(key) },
        body: JSON.stringify({ model, ...body(system, tools, messages) }),
      });
      if (!response.ok)
        throw new Error(`The endpoint answered HTTP ${response.status}: ${(await response.text()).slice(0, 500)}`);
      const { message, ...reply } = read(await response.json());
      messages.push(message);
      return reply;
    },
  };
}

const PROTOCOLS = {
  openai: {
    path: "/chat/completions",
    headers: (key) => (key ? { authorization: `Bearer ${key}` } : {}),
    body: (system, tools, messages) => ({
      messages: [{ role: "system", content: system }, ...messages],
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function",
        function: { name, description, parameters: inputSchema },
      })),
    }),
    read({ choices, usage = {} }) {
      const { message } = choices[0];
      const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: args } }) => ({
        id,
        name,
        args: parse(args),
      }));
      return {
        message,
        text: message.content ?? "",
        calls,
        tokens: (usage.prompt_tokens ?? 0) + (usage.completion_tokens ?? 0),
      };
    },
    append: (results) => results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text })),
  },
  anthropic: {
    path: "/messages",
    headers: (key) => ({ "anthropic-version": VERSION, ...(key && { "x-api-key": key }) }),
    body: (system, tools, messages) => ({
      max_tokens: MAX_TOKENS,
      system,
      messages,
      tools: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    }),
    read({ content, usage = {} }) {
      const calls = content
        .filter(({ type }) => type === "tool_use")
        .map(({ id, name, input }) => ({ id, name, args: input }));
      const text = content
        .filter(({ type }) => type === "text")
        .map((block) => block.text)
        .join("\n");
      return {
        message: { role: "assistant", content },
        text,
        calls,
        tokens: (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0),
      };
    },
    append: (results) => [
      {
        role: "user",
        content: results.map(({ id, text, isError }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: text,
          is_error: isError,
        })),
      },
    ],
  },
};

/** The arguments of a call; a text that is not JSON stays one, and the tool refuses it. */
function parse(args) {
  try {
    return JSON.parse(args || "{}");
  } catch {
    return args;
  }
}
