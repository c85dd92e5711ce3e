// Load each session file as the agent does, hand its messages to the agent's loop with one more
// question, and print the request that the agent would send to each kind of provider.
import { Agent } from "@mariozechner/pi-agent-core";
import { convertToLlm, SessionManager } from "@mariozechner/pi-coding-agent";

const APIS = ["openai-completions", "openai-responses", "anthropic-messages", "google-generative-ai"];

function modelOf(api) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const provider = { "anthropic-messages": "anthropic", "google-generative-ai": "google" }[api];
  return {
    id: "m", name: "m", api, provider: provider ?? "openai", baseUrl: "http://127.0.0.1:9",
    reasoning: true, input: ["text", "image"], cost, contextWindow: 100000, maxTokens: 1000,
  };
}

async function requestOf(api, messages) {
  let sent = null;
  const agent = new Agent({
    initialState: { systemPrompt: "", model: modelOf(api), tools: [], messages },
    convertToLlm,
    getApiKey: () => "k",
    onPayload: (payload) => {
      sent = structuredClone(JSON.parse(JSON.stringify(payload)));
      throw new Error("it is enough to know what would be sent");
    },
  });
  await agent.prompt("And now?");
  return sent;
}

const found = {};
for (const path of process.argv.slice(2)) {
  const session = SessionManager.open(path);
  const { messages } = session.buildSessionContext();
  const sent = {};
  for (const api of APIS) sent[api] = await requestOf(api, structuredClone(messages));
  found[path] = { session: session.getSessionId(), messages, sent };
}
console.log(JSON.stringify(found));
process.exit(0);
